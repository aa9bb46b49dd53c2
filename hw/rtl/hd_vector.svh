// hd_vector.svh - what VECTOR's lanes do in a command, their queues in a cycle. Guarded; include at
// file level.
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
  logic [4:0] right_a, right_b;  // -shift_a, -shift_b
} hd_vector_mode_t;

// A queue of three operands: which entries load; whether the head and the one behind it do so from
// the entry behind them, else from the port.
typedef struct packed {
  logic head_en, skid_en, spare_en;
  logic from_skid, from_spare;
} hd_vector_queue_t;

`endif
