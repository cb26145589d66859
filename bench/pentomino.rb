# Fits the twelve pentominoes onto a board by depth-first search over bit masks. Default: the first 24 solutions on 6 x 10.

SHAPES = {
  "F" => [[0, 1], [0, 2], [1, 0], [1, 1], [2, 1]],
  "I" => [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4]],
  "L" => [[0, 0], [0, 1], [0, 2], [0, 3], [1, 0]],
  "N" => [[0, 0], [0, 1], [0, 2], [1, 2], [1, 3]],
  "P" => [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]],
  "T" => [[0, 0], [0, 1], [0, 2], [1, 1], [2, 1]],
  "U" => [[0, 0], [0, 2], [1, 0], [1, 1], [1, 2]],
  "V" => [[0, 0], [1, 0], [2, 0], [2, 1], [2, 2]],
  "W" => [[0, 0], [1, 0], [1, 1], [2, 1], [2, 2]],
  "X" => [[0, 1], [1, 0], [1, 1], [1, 2], [2, 1]],
  "Y" => [[0, 0], [0, 1], [0, 2], [0, 3], [1, 1]],
  "Z" => [[0, 0], [0, 1], [1, 1], [2, 1], [2, 2]]
}

# Every way to turn and flip a shape, moved so that its first cell in reading order is the origin.
def orientations(cells)
  out = []
  2.times do
    4.times do
      cells = cells.map { |r, c| [c, -r] }
      first = cells.sort.first
      out << cells.map { |r, c| [r - first[0], c - first[1]] }.sort
    end
    cells = cells.map { |r, c| [r, -c] }
  end
  out.uniq
end

class Board
  attr_reader :solutions, :tried, :sample

  def initialize(rows, cols, limit)
    @rows = rows
    @cols = cols
    @limit = limit
    @solutions = 0
    @tried = 0
    @sample = nil
    @full = (1 << rows * cols) - 1
    # @fits[cell][piece] lists masks of that piece whose first cell is `cell`.
    @fits = Array.new(rows * cols) { |cell| SHAPES.values.map { |s| masks(s, cell) } }
    @chosen = []
  end

  def masks(shape, cell)
    row, col = cell.divmod(@cols)
    found = []
    orientations(shape).each do |cells|
      mask = 0
      inside = cells.all? do |r, c|
        rr = row + r
        cc = col + c
        ok = rr.between?(0, @rows - 1) && cc.between?(0, @cols - 1)
        mask |= 1 << (rr * @cols + cc) if ok
        ok
      end
      found << mask if inside
    end
    found
  end

  def search(board, cell, left)
    if board == @full
      @solutions += 1
      @sample ||= @chosen.dup
      return
    end
    cell += 1 while board[cell] == 1
    pieces = @fits[cell]
    p = 0
    while p < 12
      if left[p] == 1
        pieces[p].each do |mask|
          next unless board & mask == 0
          @tried += 1
          @chosen.push([p, mask])
          search(board | mask, cell + 1, left & ~(1 << p))
          @chosen.pop
          return if @solutions >= @limit
        end
      end
      p += 1
    end
  end

  def picture
    grid = Array.new(@rows) { "." * @cols }
    names = SHAPES.keys
    @sample.each do |p, mask|
      (@rows * @cols).times { |i| grid[i / @cols][i % @cols] = names[p] if mask[i] == 1 }
    end
    grid
  end
end

rows = (ARGV[0] || 6).to_i
limit = (ARGV[1] || 24).to_i
board = Board.new(rows, 60 / rows, limit)
board.search(0, 0, (1 << 12) - 1)
puts "#{rows} x #{60 / rows}: #{board.solutions} solutions, #{board.tried} placements tried"
puts board.picture
