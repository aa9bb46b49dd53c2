#!/bin/bash
# The CI templates: each of their commands runs, in order, in a repository with a suite. Runs take no time (stub.sh), and
# apt-get only looks for its packages. Files that the services keep exist, JUnit conforms to its schema, the badge counts
# runs; a slower network ends with exit code 1 and an annotation.
. "$(dirname "$0")/stub.sh"
/usr/bin/python3 -c 'import yaml' 2>/dev/null || { echo "python3-yaml not found"; exit 77; }
command -v xmllint >/dev/null || { echo "xmllint not found"; exit 77; }
mkdir bin packages && touch packages/heddle_1_amd64.deb
cat >bin/apt-get <<'END'
#!/bin/bash
echo "apt-get $*" >>"$STUB_LOG.apt"
for word; do case $word in *.deb) [ -e "$word" ] || exit 100 ;; esac done
END
cat >bin/heddle <<'END'
#!/bin/bash
[ "$1" != regress ] || set -- "$@" --heddle="$HEDDLE_BUILD/regress_stub"
exec "$HEDDLE_BUILD/heddle" "$@"
END
chmod +x bin/*
export PATH=$work/bin:$PATH GITHUB_OUTPUT=$work/output GITHUB_SHA=0123456789abcdef0123 CI_COMMIT_SHORT_SHA=01234567 \
    CI_PROJECT_DIR=$work

run() { # run TEMPLATE: its commands until one fails
    local shell command
    : >stdout
    : >stderr
    while read -r shell command; do
        case $shell:$command in
            keep:*) ;;
            bash:export*) eval "$command" ;;
            *) "$shell" -ec "$command" </dev/null >>stdout 2>>stderr || return ;;
        esac
    done <"$1"
}
written() { # written TEMPLATE BADGE
    xmllint --noout --schema "$HEDDLE_HOME/tests/app/regress/junit.xsd" regress/junit.xml 2>stderr || fail "$1: $(cat stderr)"
    xmllint --noout regress/badge.svg && grep -qF "<title>suite: $2</title>" regress/badge.svg ||
        fail "$1: badge: expected $2, found $(grep title regress/badge.svg)"
}

for template in github gitlab; do
    rm -rf regress log.apt output && : >rules && suite suite
    /usr/bin/python3 "$HEDDLE_HOME/tests/app/regress/ci_steps.py" "$HEDDLE_HOME/app/regress/ci/$template.yml" |
        sed "s|/tmp/heddle-cache|$work/.heddle-cache|" >steps
    mkdir -p .heddle-cache
    run steps || fail "$template: $(cat stderr)"
    grep -q '^apt-get install .* \./packages/heddle_1_amd64\.deb$' log.apt || fail "$template: $(cat log.apt)"
    grep -q '^suite, session 1, commit 01234567.*: 8 of 8 runs done, 0 wrong$' stdout || fail "$template: $(cat stdout)"
    written $template "8 of 8 right"
    [ $template != github ] || grep -qxE 'models=[0-9a-f]{16}' output || fail "key: $(cat output)"
    [ "$(grep -c '^keep ' steps)" -ge 4 ] || fail "$template keeps: $(cat steps)"
    for path in $(sed -n 's/^keep //p' steps); do
        [ -e "$path" ] || fail "$template keeps $path, which was not found"
    done

    # The next push: a third network, and another is slower.
    echo "b.tflite 0 1020 1000 0" >rules
    sed -i 's/"b.tflite"/"b.tflite", "c.tflite"/' suite.json
    run steps && fail "$template: a slower network did not fail"
    [ $template != github ] || grep -q '^::error title=cycles%3A b tiny rtl seed 1::1020' stdout || fail "$template: $(cat stdout)"
    written $template "4 of 12 wrong"
done

# --- the schema rejects a missing count, a finding without a kind, a time below 0, two cases of one name ---
for wrong in 's/ failures="[0-9]*"//' 's/type="cycles"/type=""/' 's/time="[0-9.]*"/time="-1"/' 's/seed 2/seed 1/'; do
    sed "$wrong" regress/junit.xml >wrong.xml
    xmllint --noout --schema "$HEDDLE_HOME/tests/app/regress/junit.xsd" wrong.xml 2>/dev/null && fail "the schema takes $wrong"
done
finish
