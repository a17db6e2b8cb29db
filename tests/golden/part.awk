# awk -v part=FILE -f part.awk: of an answer in JSON the members that FILE names, one a line: "verdict", "memory.ledger".
BEGIN { while ((getline line < part) > 0) wanted[line] = 1 }
/^  "/ { split($0, quoted, "\""); top = quoted[2]; second = "" }
/^    "/ { split($0, quoted, "\""); second = quoted[2] }
(top in wanted) || (second != "" && (top "." second) in wanted)
