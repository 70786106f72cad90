package io.eventbus.client.tyrus;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.glassfish.tyrus.core.TyrusUpgradeResponse;
import org.glassfish.tyrus.core.Utils;
import org.glassfish.tyrus.spi.UpgradeRequest;
import org.glassfish.tyrus.spi.UpgradeResponse;

/** HTTP before WebSocket: writes requests, and collects one answer. */
final class HttpHead {
  private static final int MAX_BYTES = 16 * 1024;
  private static final int END = 0x0D0A0D0A;

  // The first byte of TLS records that are not encrypted: RFC 8446, section 5.1.
  private static final int TLS_ALERT = 0x15;
  private static final int TLS_HANDSHAKE = 0x16;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
  private int lastFour;

  /** Reads up to the end of the head; returns true when it is complete. */
  boolean read(ByteBuffer in) throws IOException {
    while (in.hasRemaining()) {
      byte next = in.get();
      if (bytes.size() == 0 && (next == TLS_ALERT || next == TLS_HANDSHAKE)) {
        throw OpeningFailure.speaksTls();
      }
      bytes.write(next);
      lastFour = lastFour << 8 | (next & 0xFF);
      if (lastFour == END) {
        return true;
      }
      if (bytes.size() >= MAX_BYTES) {
        throw new IOException("HTTP head: more than " + MAX_BYTES + " bytes");
      }
    }
    return false;
  }

  /** Parses the complete head. */
  UpgradeResponse parse() throws IOException {
    String[] lines = bytes.toString(StandardCharsets.ISO_8859_1).split("\r\n", -1);
    String[] statusLine = lines[0].split(" ", 3);
    if (statusLine.length < 2
        || !statusLine[0].startsWith("HTTP/1.")
        || !statusLine[1].matches("[1-5][0-9][0-9]")) {
      throw new IOException("'" + lines[0] + "' (expected: an HTTP/1.1 status line)");
    }
    TyrusUpgradeResponse response = new TyrusUpgradeResponse();
    response.setStatus(Integer.parseInt(statusLine[1]));
    response.setReasonPhrase(statusLine.length > 2 ? statusLine[2] : "");
    // The head ends with an empty line.
    for (int i = 1; !lines[i].isEmpty(); i++) {
      int colon = lines[i].indexOf(':');
      if (colon < 1) {
        throw new IOException("'" + lines[i] + "' (expected: an HTTP header)");
      }
      response
          .getHeaders()
          .computeIfAbsent(lines[i].substring(0, colon), name -> new ArrayList<>())
          .addAll(Utils.parseHeaderValue(lines[i].substring(colon + 1).trim()));
    }
    return response;
  }

  /**
   * Returns the request for an upgrade as Tyrus has filled it in, but without {@code Origin}: that
   * names the page that a browser acts for, and a bus refuses unknown pages.
   */
  static ByteBuffer upgrade(UpgradeRequest request) {
    URI uri = URI.create(request.getRequestUri());
    String path = uri.getRawPath();
    StringBuilder text = new StringBuilder("GET ").append(path.isEmpty() ? "/" : path);
    if (uri.getRawQuery() != null) {
      text.append('?').append(uri.getRawQuery());
    }
    text.append(" HTTP/1.1\r\n");
    for (Map.Entry<String, List<String>> header : request.getHeaders().entrySet()) {
      if (header.getKey().equalsIgnoreCase("Origin")) {
        continue;
      }
      text.append(header.getKey())
          .append(": ")
          .append(String.join(", ", header.getValue()))
          .append("\r\n");
    }
    return encode(text.append("\r\n"));
  }

  /** Returns the request to a proxy for a connection to a host. */
  static ByteBuffer connect(String host, int port) {
    String target = host + ":" + port;
    return encode(
        new StringBuilder("CONNECT ")
            .append(target)
            .append(" HTTP/1.1\r\nHost: ")
            .append(target)
            .append("\r\n\r\n"));
  }

  private static ByteBuffer encode(StringBuilder text) {
    return ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.ISO_8859_1));
  }
}
