// changes.js - draws diff.html from the comparison of two runs (heddle.diff.v1), with page.js.
const changes = read("changes"), layers = changes.layers;
const pair = (o, name) => o[name] || [0, 0], moved = (o, name) => pair(o, name)[1] - pair(o, name)[0];
const cycles = (o, side) => pair(o, "cycles")[side] + pair(o, "host_cycles")[side];
const change = o => cycles(o, 1) - cycles(o, 0);
const SCHEDULE = ["commands", "tiles", "moved"], grouped = o => String(o.groups[0]) !== String(o.groups[1]);
const slower = o => change(o) >= 0.05, faster = o => change(o) <= -0.05;
const differs = o => slower(o) || faster(o) || o.state !== "both" || grouped(o) || SCHEDULE.some(n => moved(o, n));

const exact = v => Math.abs(v) < 1 && v ? v.toPrecision(3) : Number.isInteger(v) ? whole(v) : v.toFixed(1);
const signed = v => (v > 0 ? "+" : v < 0 ? "\u2212" : "") + exact(Math.abs(v));
const ratio = (a, b) => !a || a === b ? "" : (b > a ? "+" : "\u2212") + Math.abs(100 * (b / a - 1)).toFixed(2) + "\u2009%";
const tone = v => v > 0 ? "bad" : v < 0 ? "good" : null; // more is worse, except MACs and utilisation
const arrow = ([a, b], text = exact) => a === b ? text(a) : `${text(a)} \u2192 ${text(b)}`;

function head() {
  const side = s => `${s.model} on ${s.hw}, engine ${s.engine}: ${s.verdict}`, {before: a, after: b} = changes;
  document.title = `${b.model}: ${a.name} \u2192 ${b.name} \u2013 heddle`;
  $("head").replaceChildren(el("h1", null, a.model === b.model ? b.model : `${a.model} \u2192 ${b.model}`),
    ...[["Before", a], ["After", b]].map(([word, s]) => el("p", {class: "run"}, el("b", null, `${word}: `), `${s.name}. ${side(s)}.`)));
}

function figures() {
  const total = changes.numbers[0], by = total.after - total.before, n = f => layers.filter(f).length;
  const bytes2 = [0, 1].map(side => layers.reduce((sum, l) => sum + pair(l, "moved")[side], 0));
  const one = (label, value, note, colour) => el("div", {class: "figure"}, el("div", {class: "label"}, label),
    el("div", {class: "value " + (colour || "")}, value), el("div", {class: "note"}, note));
  $("figures").append(
    one(changes.estimated ? "Cycles, estimate" : "Cycles", signed(by), `${arrow([total.before, total.after])} ${ratio(total.before, total.after)}`, tone(by)),
    one("Slower", String(n(slower)), `of ${layers.length} layers, groups`), one("Faster", String(n(faster)), `of ${layers.length} layers, groups`),
    one("By another schedule", String(n(l => differs(l) && !slower(l) && !faster(l))), "in the same time"),
    one("Added, gone", `${n(l => l.state === "added")}, ${n(l => l.state === "gone")}`, "layers"),
    one("Bytes moved", signed(bytes2[1] - bytes2[0]), arrow(bytes2, bytes), tone(bytes2[1] - bytes2[0])));
}

function why(o) {
  if (o.state !== "both") return o.state;
  return [o.before_name && "was " + o.before_name, o.mostly && `${o.mostly.unit} ${o.mostly.kind.replace("_", " ")} ${signed(o.mostly.by)}`,
    o.groups && grouped(o) && "groups " + o.groups.map(g => g.join(", ") || "none").join(" \u2192 ")].filter(Boolean).join("; ");
}

function bar(o, most) {
  const by = change(o), width = Math.max(by ? 0.6 : 0, 50 * Math.abs(by) / most) + "%";
  return el("div", {class: "track"}, el("i", {class: by > 0 ? "more" : "less", style: {width}}), el("b", {class: "zero"}));
}

// A member of a group has no cycles, a counter no schedule: their cells are empty.
const cells = o => !o.cycles && !o.host_cycles ? Array(3).fill(0).map(() => el("td")) : [[cycles(o, 0), exact], [cycles(o, 1), exact], [change(o), signed]].map(([v, text], i) =>
  el("td", {class: "n " + (i === 2 ? tone(v) || "" : "")}, o.state === "added" && i === 0 || o.state === "gone" && i === 1 ? "\u2013" : text(v)));
const line = (o, most, attributes, name) => el("tr", attributes, el("td", null, name), el("td", null, most ? bar(o, most) : null), cells(o),
  el("td", {class: "n"}, ratio(cycles(o, 0), cycles(o, 1))), SCHEDULE.map(n => el("td", {class: "n"}, o[n] ? arrow(o[n], n === "moved" ? bytes : exact) : "")),
  el("td", {class: "why"}, why(o)));

// The lines that a click opens: members of a group, and every counter that changed.
function inner(o) {
  const counters = (o.counters || []).filter(c => Math.abs(moved(c, "cycles")) > 0.05);
  return (o.members || []).map(m => line({...m, cycles: null}, 0, {class: "inner", hidden: true}, m.name)).concat(counters.map(c =>
    line({cycles: c.cycles, state: "both"}, 0, {class: "inner", hidden: true}, `${c.unit} ${c.kind.replace("_", " ")}`)));
}

function layerSection() {
  const most = Math.max(1, ...layers.map(o => Math.abs(change(o)))), body = el("tbody");
  const titles = [["Layer"], ["Slower or faster"], ["Before", 1], ["After", 1], ["Change", 1], ["", 1], ["Commands", 1], ["Tiles", 1], ["Bytes moved", 1], ["Mostly"]];
  const order = [...layers].sort((x, y) => Math.abs(change(y)) - Math.abs(change(x)));
  const draw = all => body.replaceChildren(...order.filter(o => all || differs(o)).flatMap(o => {
    const more = inner(o);
    const flip = row => { more.forEach(r => { r.hidden = !r.hidden; }); if (more.length) row.setAttribute("aria-expanded", String(!more[0].hidden)); };
    return [line(o, most, {tabindex: 0, "aria-expanded": more.length ? "false" : null, onclick: e => flip(e.currentTarget), onkeydown: e => keys(e, flip)}, o.name), ...more];
  }));
  function keys(e, flip) {
    const rows = [...body.querySelectorAll("tr[tabindex]")], i = rows.indexOf(e.currentTarget), to = {ArrowDown: i + 1, ArrowUp: i - 1}[e.key];
    if (e.key === "Enter" || e.key === " ") flip(e.currentTarget);
    else if (rows[to]) rows[to].focus();
    else return;
    e.preventDefault();
  }
  const box = el("input", {type: "checkbox", id: "all", onchange: e => draw(e.target.checked)});
  $("layers").prepend(el("div", {class: "tools"}, el("label", null, box, " also those that are the same")));
  $("layers").append(el("p", null, (changes.estimated ? "Cycles are the schedules' estimates, because not both runs measured them. " : "Cycles of accelerators and host. ") +
    "Layers of which a group is made in one of the runs are one line. A click or Enter opens members and counters, arrows move."),
    key([paint("bad"), "slower"], [paint("good"), "faster"]), el("p", {class: "more"}, "More columns: scroll the table \u2192"),
    el("div", {class: "scroll", tabindex: 0}, el("table", {role: "treegrid", "aria-label": "Layers"}, el("thead", null, el("tr", null, titles.map(([t, n]) => el("th", {class: n ? "n" : null}, t)))), body)));
  draw(false);
  if (!body.children.length) body.append(el("tr", null, el("td", {colspan: titles.length}, "Every layer is the same in both runs.")));
}

function numberSection() {
  $("numbers").append(el("div", {class: "scroll"}, el("table", null,
    el("thead", null, el("tr", null, ["Number", "Before", "After", "Change", ""].map((t, i) => el("th", {class: i ? "n" : null}, t)))),
    el("tbody", null, changes.numbers.filter(n => n.before || n.after).map(n => el("tr", null, el("td", null, n.name.replaceAll("_", " ")), el("td", {class: "n"}, exact(n.before)),
      el("td", {class: "n"}, exact(n.after)), el("td", {class: "n"}, n.after === n.before ? "" : signed(n.after - n.before)), el("td", {class: "n"}, ratio(n.before, n.after))))))));
}

head();
figures();
layerSection();
numberSection();
hint();
addEventListener("resize", hint);
addEventListener("beforeprint", () => document.documentElement.classList.add("print"));
addEventListener("afterprint", () => document.documentElement.classList.remove("print"));
