/* foreign.c - see foreign.h. */
#define _GNU_SOURCE /* memmem */
#include "foreign.h"

#include <string.h>

#include "base/text.h"

enum { ANYWHERE = -1, HEAD = 256 }; /* within the first bytes */

/* Kinds of files: suffixes with spaces between; bytes at `at`; what it is; the command before and after the file's
 * name, or `other` instead of it. */
static const struct {
    const char *suffixes, *mark;
    int at;
    const char *what, *command, *after, *other;
} kinds[] = {
    {".keras .h5 .hdf5", "\x89HDF\r\n\x1a\n", 0,
     "a Keras network, which TensorFlow converts (docs/KERAS.md)",
     "python3 -c \"import sys, tensorflow as tf; m = tf.keras.models.load_model(sys.argv[1]); i = "
     "m.inputs[0]; f = tf.function(m).get_concrete_function(tf.TensorSpec([1, *i.shape[1:]], "
     "i.dtype)); open(sys.argv[2], "
     "'wb').write(tf.lite.TFLiteConverter.from_concrete_functions([f], m).convert())\"",
     "net.tflite", NULL},
    {".pt2", NULL, 0, "an exported PyTorch program, which PyTorch converts",
     "python3 -c \"import sys, torch; torch.onnx.export(torch.export.load(sys.argv[1]), (), "
     "sys.argv[2], dynamo=True, external_data=False)\"",
     "net.onnx", NULL},
    {".pt .pth", "/data.pkl", ANYWHERE,
     "a PyTorch file, whose whole module PyTorch converts (weights alone: load them into their "
     "module first), with the shape of its input in place of 1, 3, 224, 224",
     "python3 -c \"import sys, torch; m = torch.load(sys.argv[1], weights_only=False); "
     "torch.onnx.export(m.eval(), (torch.zeros(1, 3, 224, 224),), sys.argv[2], "
     "external_data=False)\"",
     "net.onnx", NULL},
    {".pte", "ET12", 4,
     "an ExecuTorch program, compiled already; PyTorch converts what torch.export.save wrote of "
     "the "
     "same network",
     "python3 -c \"import sys, torch; torch.onnx.export(torch.export.load(sys.argv[1]), (), "
     "sys.argv[2], dynamo=True, external_data=False)\"",
     "net.onnx", "net.pt2"},
    {".mlir .mlirbc", "ML\xefR", 0,
     "an MLIR module, which TensorFlow converts from its tfl dialect",
     "flatbuffer_translate --mlir-to-tflite-flatbuffer", "-o net.tflite", NULL},
    {".pb", NULL, 0,
     "a TensorFlow graph, which tf2onnx converts, with the names of its inputs and outputs (a "
     "SavedModel: --saved-model and its folder)",
     "python3 -m tf2onnx.convert --graphdef", "--inputs x:0 --outputs y:0 --output net.onnx", NULL},
    {".safetensors", "{\"", 8,
     "weights without a network; optimum converts the folder of a Hugging Face model that has both",
     "optimum-cli export onnx --model \"$(dirname", ")\" net", NULL},
};

static bool has_suffix(const char *path, const char *suffixes)
{
    const char *dot = strrchr(path, '.'), *p = dot ? strstr(suffixes, dot) : NULL;

    return p && (p == suffixes || p[-1] == ' ') && strchr(" ", p[strlen(dot)]) != NULL;
}

static bool has_mark(const char *mark, int at, const uint8_t *data, size_t n)
{
    const size_t size = strlen(mark);

    if (at == ANYWHERE)
        return memmem(data, n < HEAD ? n : HEAD, mark, size) != NULL;
    return n >= (size_t)at + size && memcmp(data + at, mark, size) == 0;
}

enum status foreign_refuse(struct arena *a, const char *path, const uint8_t *data, size_t n,
                           struct diag *d)
{
    size_t k = 0;

    if (has_suffix(path, ".gguf .ir .onnx .tosa"))
        return ST_OK;
    while (k < sizeof kinds / sizeof *kinds && !has_suffix(path, kinds[k].suffixes))
        k++;
    if (k == sizeof kinds / sizeof *kinds)
        for (k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (kinds[k].mark && has_mark(kinds[k].mark, kinds[k].at, data, n))
                break;
    if (k == sizeof kinds / sizeof *kinds)
        return ST_OK;
    return FAIL(d, ST_UNSUPPORTED, "%s: %s %s %s", kinds[k].what, kinds[k].command,
                kinds[k].other ? kinds[k].other : text_shell_word(a, path), kinds[k].after);
}
