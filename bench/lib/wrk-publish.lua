-- Publishes snapshots of three 4 KiB arrays, each under an id of its own: BENCH_IDS and a number.
local boundary = "bench-wrk"
local before, after = os.getenv("BENCH_DOCUMENT"):match("^(.*)SNAPSHOT_ID(.*)$")
local prefix = os.getenv("BENCH_IDS")
local number = 0

local function part(name, body)
  return "--" .. boundary .. '\r\nContent-Disposition: form-data; name="' .. name .. '"\r\n\r\n' .. body .. "\r\n"
end

local arrays = ""
for index, key in ipairs({ "first", "second", "third" }) do
  arrays = arrays .. part(key, string.char(64 + index):rep(4096))
end
local ending = arrays .. "--" .. boundary .. "--\r\n"
local headers = { ["Content-Type"] = "multipart/form-data; boundary=" .. boundary, ["Host"] = "localhost" }

function request()
  number = number + 1
  local id = prefix .. string.format("%016x", number)
  return wrk.format("POST", "/snapshots", headers, part("metadata", before .. id .. after) .. ending)
end
