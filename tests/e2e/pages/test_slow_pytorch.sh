#!/bin/bash
# docs/PYTORCH.md: a network of torchvision exported, quantised, run by heddle and by ONNX Runtime.
# PyTorch comes from the environment that HEDDLE_VENV_TORCH names; those of litert-torch and ExecuTorch, if any,
# from HEDDLE_VENV_LITERT_TORCH and HEDDLE_VENV_EXECUTORCH.
. "$(dirname "$0")/../common.sh"

if [ -z "${HEDDLE_VENV_TORCH:-}" ]; then
    echo "HEDDLE_VENV_TORCH names no environment with torch (docs/PYTORCH.md)"
    exit 77
fi
table="$HEDDLE_HOME/tests/oracle/pytorch/torch_table.py"
"$HEDDLE_VENV_TORCH/bin/python" "$table" --heddle "$heddle" --networks squeezenet1_1:64 >log 2>&1 || fail "$(tail -n 3 log)"
[ -z "${HEDDLE_VENV_LITERT_TORCH:-}" ] ||
    "$HEDDLE_VENV_LITERT_TORCH/bin/python" "$table" --heddle "$heddle" --ways torch_litert --networks squeezenet1_1:64 >log 2>&1 ||
    fail "litert-torch: $(tail -n 3 log)"

[ -z "${HEDDLE_VENV_EXECUTORCH:-}" ] ||
    "$HEDDLE_VENV_EXECUTORCH/bin/python" "$table" --heddle "$heddle" --ways torch_tosa --networks squeezenet1_1:64 >log 2>&1 ||
    fail "ExecuTorch: $(tail -n 3 log)"

# --- saved modules: the line that heddle answers makes a file that it takes ---
"$HEDDLE_VENV_TORCH/bin/python" - >log 2>&1 <<'END' || fail "no modules: $(tail -n 3 log)"
import torch

net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()).eval()
torch.save(net, "net.pt")
torch.export.save(torch.export.export(net, (torch.zeros(1, 3, 224, 224),)), "net.pt2")
END
for file in net.pt net.pt2; do
    rm -f net.onnx
    "$heddle" run $file 2>stderr && fail "$file was taken"
    PATH=$HEDDLE_VENV_TORCH/bin:$PATH bash -c "$(sed 's,^.*: python3,python3,' stderr)" >log 2>&1 || fail "$file: $(tail -n 3 log)"
    "$heddle" inspect net.onnx --target=c >log 2>&1 || fail "$file: $(cat log)"
done
finish
