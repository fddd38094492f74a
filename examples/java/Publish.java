// Publishes the columns of examples/npm-packages with java.net.http and reads them back, proven. Needs a JDK from 17 on.
// From the project's top folder:
//
//   java examples/java/Publish.java [--id <32 hex digits>] [http://127.0.0.1:8750]
//
// The address may also be given as SNAPSHOTS_URL. With --id the same columns become another snapshot.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.UUID;
import java.util.regex.Pattern;

public class Publish {
    static final Path COLUMNS = Path.of("examples/npm-packages");
    static final HttpClient CLIENT = HttpClient.newHttpClient();
    // The manifest is canonical JSON, whose form is fixed to the byte.
    static final Pattern ARRAY = Pattern.compile("\"file\":\"(array-\\w+\\.bin)\",\"sha256\":\"(\\p{XDigit}{64})\"");
    static final Pattern ID = Pattern.compile("\"snapshot_id\":\"(\\p{XDigit}{32})\"");

    static String sha256(byte[] bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    static void require(boolean holds, String otherwise) {
        if (holds) return;
        System.err.println(otherwise);
        System.exit(1);
    }

    static byte[] get(String address) throws Exception {
        var answer = CLIENT.send(HttpRequest.newBuilder(URI.create(address)).build(), BodyHandlers.ofByteArray());
        require(answer.statusCode() == 200, address + ": " + new String(answer.body()));
        return answer.body();
    }

    static BodyPublisher partHead(String boundary, String name) {
        return BodyPublishers.ofString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name
            + "\"; filename=\"" + name + "\"\r\nContent-Type: application/octet-stream\r\n\r\n");
    }

    public static void main(String[] given) throws Exception {
        var arguments = new ArrayList<>(Arrays.asList(given));
        int option = arguments.indexOf("--id");
        String id = null;
        if (option >= 0) {
            id = arguments.remove(option + 1);
            arguments.remove(option);
        }
        String base = arguments.isEmpty()
            ? System.getenv().getOrDefault("SNAPSHOTS_URL", "http://127.0.0.1:8750") : arguments.get(0);
        String url = base.replaceAll("/$", "") + "/snapshots";

        String expected = Files.readString(COLUMNS.resolve("expected-manifest.json"));
        String metadata = Files.readString(COLUMNS.resolve("metadata.json"));
        String original = ID.matcher(expected).results().findFirst().orElseThrow().group(1);
        if (id == null) id = original;
        expected = expected.replace(original, id);
        String digest = sha256(expected.getBytes());

        // metadata first, then one part per array, named by its file; the files are streamed.
        String boundary = UUID.randomUUID().toString();
        var parts = new ArrayList<BodyPublisher>();
        parts.add(partHead(boundary, "metadata"));
        parts.add(BodyPublishers.ofString(metadata.replace(original, id) + "\r\n"));
        var arrays = ARRAY.matcher(expected).results().toList();
        for (var array : arrays) {
            parts.add(partHead(boundary, array.group(1)));
            parts.add(BodyPublishers.ofFile(COLUMNS.resolve(array.group(1))));
            parts.add(BodyPublishers.ofString("\r\n"));
        }
        parts.add(BodyPublishers.ofString("--" + boundary + "--\r\n"));
        var request = HttpRequest.newBuilder(URI.create(url))
            .header("Content-Type", "multipart/form-data; boundary=" + boundary)
            .POST(BodyPublishers.concat(parts.toArray(BodyPublisher[]::new))).build();
        var answer = CLIENT.send(request, BodyHandlers.ofString());
        boolean exists = answer.statusCode() == 409 && answer.body().contains("\"manifest_sha256\":\"" + digest + "\"");
        boolean published = answer.statusCode() == 201 && answer.body().equals(expected);
        require(exists || published, "not published (" + answer.statusCode() + "): " + answer.body());

        require(new String(get(url + "/" + id)).equals(expected), "the stored manifest is not the expected one");
        for (var array : arrays) {
            byte[] stored = get(url + "/" + id + "/" + array.group(1));
            require(sha256(stored).equals(array.group(2)), array.group(1) + ": another SHA-256 than the manifest's");
            byte[] sent = Files.readAllBytes(COLUMNS.resolve(array.group(1)));
            require(Arrays.equals(stored, sent), array.group(1) + " came back changed");
        }
        System.out.printf("%s: %s, %d arrays read back and proven, manifest_sha256 %s%n",
            exists ? "exists already, the same one" : "published", id, arrays.size(), digest);
    }
}
