// hd_vector.svh - what the queues of VECTOR's lanes do in a cycle. Guarded; include at file level.
`ifndef HD_VECTOR_SVH
`define HD_VECTOR_SVH

// A queue of three operands: which entries load; whether the head and the one behind it do so from
// the entry behind them, else from the port.
typedef struct packed {
  logic head_en, skid_en, spare_en;
  logic from_skid, from_spare;
} hd_vector_queue_t;

`endif
