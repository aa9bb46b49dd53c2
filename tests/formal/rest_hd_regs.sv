always_comb begin
  if (rst_ni) a_hold: assert (regions_ready || hold_q);
end
