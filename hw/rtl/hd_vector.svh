// hd_vector.svh - what VECTOR's lanes do in a command. Guarded; include at file level.
`ifndef HD_VECTOR_SVH
`define HD_VECTOR_SVH

typedef struct packed {
  logic scale;   // add, sub, squared, max, min, max_pool_two: each operand times its scale
  logic sub;     // sub, squared
  logic square;  // squared
  logic pick;    // max, min, max_pool_two
  logic min;
  logic mul;
  logic prelu;
  logic sum;     // avg_pool, sum
  logic max;     // max_pool, max_pool_two
} hd_vector_mode_t;

`endif
