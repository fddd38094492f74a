# Publishes the columns of ../npm-packages with net/http and reads them back, proven.
#
#   ruby examples/ruby/publish.rb [--id <32 hex digits>] [http://127.0.0.1:8750]
#
# The address may also be given as SNAPSHOTS_URL. With --id the same columns become another snapshot.
require 'digest'
require 'json'
require 'net/http'
require 'optparse'

COLUMNS = File.expand_path('../npm-packages', __dir__)

def read(name)
  File.binread(File.join(COLUMNS, name))
end

def get(url)
  answer = Net::HTTP.get_response(URI(url))
  abort "#{url}: #{answer.body}" unless answer.code == '200'
  answer.body.b
end

options = {}
OptionParser.new { |parser| parser.on('--id ID', 'another snapshot_id, 32 lowercase hex digits') }.parse!(into: options)
base = ARGV.first || ENV.fetch('SNAPSHOTS_URL', 'http://127.0.0.1:8750')
url = "#{base.chomp('/')}/snapshots"

document = JSON.parse(read('metadata.json'))
original = document['snapshot']['snapshot_id']
id = document['snapshot']['snapshot_id'] = options.fetch(:id, original)
expected = read('expected-manifest.json').gsub(original, id)
digest = Digest::SHA256.hexdigest(expected)

# metadata first, then one part per array, named by its file.
paths = Dir[File.join(COLUMNS, 'array-*.bin')]
parts = paths.map { |path| [File.basename(path), File.open(path, 'rb'), { filename: File.basename(path) }] }
request = Net::HTTP::Post.new(URI(url))
request.set_form([['metadata', JSON.generate(document)], *parts], 'multipart/form-data')
uri = request.uri
answer = Net::HTTP.start(uri.hostname, uri.port, use_ssl: uri.scheme == 'https') { |http| http.request(request) }

if answer.code == '409' && JSON.parse(answer.body)['manifest_sha256'] == digest
  result = 'exists already, the same one'
elsif answer.code == '201' && answer.body.b == expected
  result = 'published'
else
  abort "not published (#{answer.code}): #{answer.body}"
end

abort 'the stored manifest is not the expected one' unless get("#{url}/#{id}") == expected
arrays = JSON.parse(expected)['arrays'].values
arrays.each do |array|
  stored = get("#{url}/#{id}/#{array['file']}")
  abort "#{array['file']}: another SHA-256 than the manifest's" unless Digest::SHA256.hexdigest(stored) == array['sha256']
  abort "#{array['file']} came back changed" unless stored == read(array['file'])
end
puts "#{result}: #{id}, #{arrays.size} arrays read back and proven, manifest_sha256 #{digest}"
