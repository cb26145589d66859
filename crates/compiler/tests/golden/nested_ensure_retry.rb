def m
  tries = 0
  begin
    begin
      work
    rescue IOError => e
      begin
        retry if (tries += 1) < 3
      ensure
        log
      end
      raise
    end
  rescue => e
    return e
  ensure
    done
  end
end
