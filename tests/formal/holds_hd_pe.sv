// The equation of the header, for both forms; its product is a plain one of AccW bits. It takes the weight and, in the
// narrow form, the row that the form keeps: a_weight and a_act hold them to what was written and asked for. So no two
// products of different numbers are compared, which no solver does in minutes. In the wide form each mode has a product;
// one is left when the mode is fixed (proofs.txt, `cases`).
logic                   rst_ni;            // of the properties; the cell has none
logic                   known_q, real_q;   // a weight was written; psum_o counts
logic signed [WgtW-1:0] f_weight_q;
logic        [AccW-1:0] f_act;
logic        [AccW-1:0] act, weight;       // of the form that there is
logic        [AccW-1:0] f_act_q, f_sum_q;
logic                   taken_q;           // f_act_q counts

assign rst_ni = $anyseq;

if (Wide) begin : gen_f_wide
  assign weight = gen_wide.weight_q;
  assign act    = f_act;
end else begin : gen_f_narrow
  assign weight = AccW'(gen_narrow.weight_q);
  assign act    = AccW'(gen_narrow.act_q);
end

always_comb begin
  f_act = depthwise_i ? (tap_en_i ? AccW'($signed(tap_i)) : '0) : pair_i && second_i ? row2_i : row_i;
end

always_ff @(posedge clk_i) begin
  known_q <= rst_ni && (known_q || (en_i && w_we_i));
  taken_q <= rst_ni && (taken_q || en_i);
  real_q  <= rst_ni && (real_q || (en_i && known_q && (Wide || taken_q)));
  if (en_i && w_we_i) f_weight_q <= w_i;
  if (en_i) begin
    f_act_q <= f_act;
    f_sum_q <= psum_i + $signed(act) * $signed(weight);
  end
end

always_comb begin
  m_sign: assume ($signed(row_i) == AccW'($signed(row_i[ActW-1:0])) && $signed(row2_i) == AccW'($signed(row2_i[ActW-1:0])));
  m_mode: assume (depthwise_i ? row_i == '0 && !pair_i : !tap_en_i);
  if (rst_ni) begin
    a_sum: assert (!real_q || psum_o == f_sum_q);
    a_known: assert (!real_q || (known_q && (Wide || taken_q)));
    a_act: assert (Wide ? act == f_act : !taken_q || act == f_act_q);
    a_weight: assert (!known_q || weight == AccW'(f_weight_q));
  end
end
