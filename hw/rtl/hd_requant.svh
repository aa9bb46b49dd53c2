// hd_requant.svh - what ARRAY and VECTOR ask of the requantisation lanes, and how these round.
// Guarded; include at file level.
`ifndef HD_REQUANT_SVH
`define HD_REQUANT_SVH

typedef enum logic [1:0] {
  RqMbqm    = 2'd0,  // MBQM(value, multiplier, shift) + z_out, clamp
  RqAverage = 2'd1,  // value / cells, halves away from zero; multiplier = ceil(2^31 / cells)
  RqPass    = 2'd2   // clamp
} hd_rq_mode_e;

// The fields of a command that go with its results: output of look-up table table_first and those
// after it with table_on; wide: bytes of a result, less 1; half: of two bytes, 1 the upper one, 2
// the lower one less 128.
typedef struct packed {
  logic [1:0]  half, wide;
  logic        has_bias, common_scale, sum_columns;
  logic [31:0] multiplier;
  logic [7:0]  shift, z_out, min, max;
  logic        table_on;
  logic [2:0]  table_first;
} hd_array_scale_t;

typedef struct packed {
  logic [1:0]  half;            // RqMbqm only
  logic [1:0]  mode;            // hd_rq_mode_e
  logic [31:0] multiplier;
  logic [7:0]  shift;
  logic [31:0] multiplier_alt;  // of the lanes of v_alt
  logic [7:0]  shift_alt;
  logic [11:0] cells;           // average: 0..2048
  logic [7:0]  z_out, min, max;
  logic        table_on;
  logic [2:0]  table_first;
} hd_vector_scale_t;

// h >>> e, or its complement.
function automatic logic [31:0] hd_shifted(input logic signed [31:0] h, input logic [4:0] e,
                                           input logic minus);
  logic signed [31:0] shift;
  shift      = h >>> e;
  hd_shifted = shift ^ {32{minus}};
endfunction

// RDBPOT(h, e) is (h >>> e) + this, with below = e ones: the bit half = 2^(e-1) of h, but not at a
// tie of h < 0.
function automatic logic hd_rounds_up(input logic signed [31:0] h, input logic [31:0] below);
  hd_rounds_up = (h & below & ~(below >> 1)) != 32'd0 && (!h[31] || (h & (below >> 1)) != 32'd0);
endfunction

`endif
