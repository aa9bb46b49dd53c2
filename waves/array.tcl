# array.tcl - adds the inside of ARRAY to a view, from the address asked for to the byte written:
#   gtkwave build/out/digits/waves.gtkw -S waves/array.tcl
# One array row and column 0 stand for all. Ports and lanes lie side by side in one vector, lane i at
# bits [i*W +: W]. tests/waves/test_gtkwave.sh checks that every name here is in the waves.
set compute TOP.hd_sim_top.u_top.u_compute
set array $compute.u_array
set spad $compute.u_spad
set requant $compute.u_requant

# Names with their [msb:lsb], which depends on the configuration.
for {set i 0} {$i < [gtkwave::getNumFacs]} {incr i} {
    set full [gtkwave::getFacName $i]
    if {[string match $array.* $full] || [string match $spad.* $full]
            || [string match $requant.qw_* $full]} {
        regsub {\[[0-9]+:[0-9]+\]$} $full {} plain
        set width($plain) $full
    }
}
set row [expr {[info exists width($array.u_array.gen_row\[4\].gen_col\[0\].psum)] ? 4 : 1}]
set port [expr {$row == 4 && [info exists width($array.u_feed.gen_reader\[1\].u_reader.rotated)]}]
set reader $array.u_feed.gen_reader\[$port\].u_reader
set cell $array.u_array.gen_row\[$row\].gen_col\[0\]
set acc $array.u_sums.u_acc
set missing {}

proc show {title args} {
    global width missing
    gtkwave::/Edit/Insert_Comment "ARRAY: $title"
    foreach {format name} $args {
        if {[info exists width($name\[0\])]} { set name $name\[0\] } ;# one port: one bit
        if {![info exists width($name)]} { lappend missing $name; continue }
        gtkwave::/Edit/UnHighlight_All
        gtkwave::addSignalsFromList [list $width($name)]
        gtkwave::highlightSignalsFromList [list $width($name)]
        gtkwave::/Edit/Data_Format/$format
    }
    gtkwave::/Edit/UnHighlight_All
}

show "position (T)" Decimal $array.u_seq.u_steps.step_q Hex $array.en
show "request (T+1), all ports; address = word * N + offset, port $port" \
    Binary $array.ar_req Hex $array.ar_addr_o Hex $array.ar_lo Hex $array.ar_hi \
    Decimal $spad.u_grant.word\[$port\] Decimal $reader.offset_i
show "banks: first and second word granted" Binary $spad.grant0 Binary $spad.grant1 Hex $spad.ar_en_o
show "bytes of port $port, rotated; lane $row minus zero point (T+3)" \
    Hex $reader.rotated Signed_Decimal $reader.gen_lane\[$row\].lane
show "weights: asked for (T+1+r), on the bus (T+3+r)" \
    Hex $array.wr_req_o Decimal $array.asked.row.row Hex $array.w_valid3_q Decimal $array.w_row3_q \
    Signed_Decimal $array.gen_w_bus\[0\].weight_q
show "cell row $row, column 0 (T+4+r)" \
    Signed_Decimal $cell.u_pe.row_i Signed_Decimal $cell.u_pe.tap_i Signed_Decimal $cell.u_pe.gen_wide.weight_q \
    Signed_Decimal $cell.psum
show "accumulator, column 0 (T+N+4)" \
    Signed_Decimal $acc.gen_column\[0\].kept Signed_Decimal $acc.gen_column\[0\].psum \
    Hex $acc.add_i Signed_Decimal $acc.gen_column\[0\].sum Hex $acc.we_i Hex $array.a_valid_o
show "requantised bytes (T+N+12)" \
    Hex $requant.qw_valid_o Hex $requant.qw_addr_o Decimal $requant.qw_count_o Hex $requant.qw_data_o
if {[llength $missing]} { puts "array.tcl: not in these waves: $missing" }
