import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;

/** Posts a file as the whole body of a request, as often as asked; prints the status and the problem's code each time. */
class Send {
  public static void main(String[] args) throws Exception {
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    for (int turn = 0; turn < Integer.parseInt(args[4]); turn += 1) {
      HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(args[0]))
          .timeout(Duration.ofSeconds(60))
          .header("Content-Type", args[2])
          .POST(HttpRequest.BodyPublishers.ofFile(Path.of(args[1])));
      if (!args[3].isEmpty()) request.header(args[3].split(": ")[0], args[3].split(": ")[1]);
      try {
        HttpResponse<String> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        String code = answer.body().replaceAll("(?s).*\"code\":\"([a-z_]+)\".*", "$1");
        System.out.println(answer.statusCode() + " " + code);
      } catch (java.io.IOException error) {
        System.out.println("0 " + error);
      }
    }
  }
}
