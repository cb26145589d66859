DATA.read
__END__
text
