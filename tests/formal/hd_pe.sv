// The equation of the header, for both forms; its product is a plain one of AccW bits.
logic                   rst_ni;            // of the properties; the cell has none
logic                   known_q, real_q;   // a weight was written; psum_o counts
logic signed [WgtW-1:0] f_weight_q;
logic signed [ActW-1:0] f_act;
logic        [AccW-1:0] f_sum_q;

assign rst_ni = $anyseq;

always_comb begin
  f_act = depthwise_i ? (tap_en_i ? tap_i : '0) : pair_i && second_i ? row2_i[ActW-1:0] : row_i[ActW-1:0];
end

always_ff @(posedge clk_i) begin
  known_q <= rst_ni && (known_q || (en_i && w_we_i));
  real_q  <= rst_ni && (real_q || (en_i && known_q));
  if (en_i && w_we_i) f_weight_q <= w_i;
  if (en_i) f_sum_q <= psum_i + AccW'(f_act) * AccW'(f_weight_q);
end

logic [AccW-1:0] weight;  // of the form that there is
if (Wide) begin : gen_f_wide
  assign weight = gen_wide.weight_q;
end else begin : gen_f_narrow
  assign weight = AccW'(gen_narrow.weight_q);
end

always_comb begin
  m_sign: assume ($signed(row_i) == AccW'($signed(row_i[ActW-1:0])) && $signed(row2_i) == AccW'($signed(row2_i[ActW-1:0])));
  if (rst_ni) begin
    a_sum: assert (!real_q || psum_o == f_sum_q);
    a_known: assert (!real_q || known_q);
    a_weight: assert (!known_q || weight == AccW'(f_weight_q));
  end
end
