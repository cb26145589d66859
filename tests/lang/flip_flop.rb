p (1..10).select { |i| true if (i == 3)..(i == 5) }
p (1..10).select { |i| true if (i % 3 == 0)...(i % 3 == 0) }
p %w[a BEGIN b c END d].select { |l| true if l == "BEGIN" .. l == "END" }
