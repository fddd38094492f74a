-- Asks for every path of the file named in BENCH_PATHS in turn, so that no server can live on a single hot file.
local requests, last = {}, 0

function init()
  for path in io.lines(os.getenv("BENCH_PATHS")) do
    requests[#requests + 1] = wrk.format("GET", path)
  end
end

function request()
  last = last % #requests + 1
  return requests[last]
end
