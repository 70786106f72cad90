package io.eventbus.loadtest.attack.run;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Asks the administration port as a probe of a platform does: a new connection for each question,
 * and a time limit for all of it. Any thread.
 */
final class Admin {
  private static final int SLOW_MILLIS = 5_000;
  private static final int STATUS_AT = 9;

  /**
   * An answer.
   *
   * @param status 0 for none in time
   */
  record Answer(int status, String body) {}

  private final int port;
  private final String login;

  /** Asks with a token; an empty one for none. */
  Admin(int port, String token) {
    this.port = port;
    this.login = token.isEmpty() ? "" : "Authorization: Bearer " + token + "\r\n";
  }

  Answer get(String path, int millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), millis);
      String request =
          "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + login + "Connection: close\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      InputStream in = socket.getInputStream();
      byte[] buffer = new byte[8192];
      while (true) {
        int left = (int) TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        if (left <= 0) {
          throw new SocketTimeoutException();
        }
        socket.setSoTimeout(left);
        int n = in.read(buffer);
        if (n < 0) {
          break;
        }
        all.write(buffer, 0, n);
      }
      String text = all.toString(StandardCharsets.ISO_8859_1);
      return text.startsWith("HTTP/1.1 ")
          ? new Answer(Integer.parseInt(text.substring(STATUS_AT, STATUS_AT + 3)), text)
          : new Answer(0, "");
    } catch (IOException e) {
      return new Answer(0, "");
    }
  }

  /** Returns the sum of a metric's samples, negative if it cannot be had. */
  double metric(String name) {
    Answer answer = get("/metrics", SLOW_MILLIS);
    Matcher sample =
        Pattern.compile("(?m)^" + Pattern.quote(name) + "(?:\\{[^}]*})? (\\S+)\\s*$")
            .matcher(answer.body());
    double sum = answer.status() == 200 ? 0 : -1;
    boolean found = false;
    while (sample.find()) {
      sum += Double.parseDouble(sample.group(1));
      found = true;
    }
    return found ? sum : -1;
  }
}
