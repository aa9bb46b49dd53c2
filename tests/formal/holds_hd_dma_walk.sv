// Steps are never empty and end with their line. It starts from walks that are not empty (m_not_empty).
always_comb begin
  m_not_empty: assume (!valid_i || (offer_i && bytes_i != '0 && count_i != '0));
  if (rst_ni) begin
    a_left: assert (!valid_q || ((end_q || left_q != '0) && (last_o || bytes_q != '0) && count_q != '0));
    a_only: assert (!valid_q || only_q == (count_q == 1));
    a_whole: assert (!valid_q || end_q || &top_q);
    a_lanes: assert (!valid_q || (lo_o <= top_o && bytes_o == top_o - lo_o + 1'b1));
  end
end
