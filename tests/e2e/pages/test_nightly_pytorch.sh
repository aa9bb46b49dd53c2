#!/bin/bash
# docs/PYTORCH.md: eight networks of torchvision and timm, each exported and quantised by three ways, run by heddle and by the
# way's own runtime. HEDDLE_TORCH_NETWORKS names others. The environments are .ci/venv's.
. "$(dirname "$0")/../common.sh"
eight=squeezenet1_1:64,mobilenet_v2:64,mobilenet_v3_small:64,resnet18:64,shufflenet_v2_x0_5:64
eight+=,mnasnet0_5:64,efficientnet_b0:64,timm/vit_tiny_patch16_224:64
networks=${HEDDLE_TORCH_NETWORKS:-$eight}
torch=''
for way in torch_qdq:torch torch_litert:litert torch_tosa:executorch; do
    venv=$(cd "$HEDDLE_HOME" && .ci/venv "${way#*:}") || { echo "$venv"; exit 77; }
    case $venv in /*) ;; *) venv=$HEDDLE_HOME/$venv ;; esac
    torch=${torch:-$venv}
    "$venv/bin/python" "$HEDDLE_HOME/tests/oracle/pytorch/torch_table.py" --heddle "$heddle" --ways "${way%:*}" \
        --networks "$networks" >log 2>&1 || fail "${way%:*}: $(tail -n 3 log)"
    [ "$(grep -c '| 100.0 % |' log)" = "$(tr , '\n' <<<"$networks" | wc -l)" ] || fail "${way%:*}: $(cat log)"
done

# --- saved modules: the line that heddle answers makes a file that it takes ---
"$torch/bin/python" - >log 2>&1 <<'END' || fail "no modules: $(tail -n 3 log)"
import torch

net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()).eval()
torch.save(net, "net.pt")
torch.export.save(torch.export.export(net, (torch.zeros(1, 3, 224, 224),)), "net.pt2")
END
for file in net.pt net.pt2; do
    rm -f net.onnx
    "$heddle" run $file 2>stderr && fail "$file was taken"
    PATH=$torch/bin:$PATH bash -c "$(sed 's,^.*: python3,python3,' stderr)" >log 2>&1 || fail "$file: $(tail -n 3 log)"
    "$heddle" inspect net.onnx --target=c >log 2>&1 || fail "$file: $(cat log)"
done
finish
