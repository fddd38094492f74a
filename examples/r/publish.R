# Publishes the columns of ../npm-packages with the curl package and reads them back, proven.
#
#   Rscript examples/r/publish.R [--id=<32 hex digits>] [http://127.0.0.1:8750]
#
# Needs the packages curl, jsonlite and openssl. The address may also be given as SNAPSHOTS_URL. With --id the same
# columns become another snapshot.
suppressMessages(library(curl))

script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
columns <- file.path(dirname(dirname(normalizePath(script))), "npm-packages")
arguments <- commandArgs(trailingOnly = TRUE)
given_id <- sub("^--id=", "", grep("^--id=", arguments, value = TRUE))
address <- c(grep("^--", arguments, value = TRUE, invert = TRUE), Sys.getenv("SNAPSHOTS_URL", "http://127.0.0.1:8750"))
url <- paste0(sub("/$", "", address[1]), "/snapshots")

read <- function(path) readBin(path, "raw", file.size(path))
sha256 <- function(bytes) paste(openssl::sha256(bytes), collapse = "")
fail <- function(...) {
  message(...)
  quit(status = 1)
}
get <- function(path) {
  answer <- curl_fetch_memory(paste0(url, "/", path))
  if (answer$status_code != 200) fail(path, " could not be read: ", rawToChar(answer$content))
  answer$content
}

metadata <- rawToChar(read(file.path(columns, "metadata.json")))
expected <- rawToChar(read(file.path(columns, "expected-manifest.json")))
original <- jsonlite::fromJSON(metadata)$snapshot$snapshot_id
id <- c(given_id, original)[1]
metadata <- gsub(original, id, metadata, fixed = TRUE)
expected <- gsub(original, id, expected, fixed = TRUE)
digest <- sha256(charToRaw(expected))

# metadata first, then one part per array, named by its file.
files <- list.files(columns, "^array-.*[.]bin$", full.names = TRUE)
parts <- lapply(files, form_file, type = "application/octet-stream")
names(parts) <- basename(files)
handle <- new_handle()
handle_setform(handle, .list = c(list(metadata = form_data(metadata, "application/json")), parts))
answer <- curl_fetch_memory(url, handle)
body <- rawToChar(answer$content)
if (answer$status_code == 409 && identical(jsonlite::fromJSON(body)$manifest_sha256, digest)) {
  result <- "exists already, the same one"
} else if (answer$status_code == 201 && body == expected) {
  result <- "published"
} else {
  fail("not published (", answer$status_code, "): ", body)
}

if (!identical(get(id), charToRaw(expected))) fail("the stored manifest is not the expected one")
arrays <- jsonlite::fromJSON(expected)$arrays
for (array in arrays) {
  stored <- get(paste0(id, "/", array$file))
  if (sha256(stored) != array$sha256) fail(array$file, ": another SHA-256 than the manifest's")
  if (!identical(stored, read(file.path(columns, array$file)))) fail(array$file, " came back changed")
}
cat(sprintf("%s: %s, %d arrays read back and proven, manifest_sha256 %s\n", result, id, length(arrays), digest))
