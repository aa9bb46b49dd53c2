// Steps are never empty and end with their line. It starts from walks that are not empty (m_not_empty).
always_comb begin
  m_not_empty: assume (!valid_i || (bytes_i != '0 && count_i != '0));
  if (rst_ni) begin
    a_left: assert (!valid_q || (left_q != '0 && bytes_q != '0 && count_q != '0));
    a_lanes: assert (!valid_q || (lo_o < hi_o && hi_o <= Bytes));
  end
end
