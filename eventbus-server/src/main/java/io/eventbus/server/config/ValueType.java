package io.eventbus.server.config;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Type of a configuration key's values, which reads and prints them. */
public enum ValueType {
  /** Letters, digits, dots, dashes and underscores; may be empty. */
  NAME("up to 64 letters, digits, `.`, `-` and `_`, first a letter or digit"),
  /** Host name or address. */
  HOST("a host name or an IP address"),
  /** Absolute path of a URL; empty for none if the default is empty. */
  URL_PATH("a path such as /bus, of letters, digits, `/`, `.`, `-`, `_` and `~`"),
  /** Origins of web pages (RFC 6454); empty for none. */
  ORIGINS("origins such as https://app.example.com with commas between, or `*`"),
  /** IP addresses and networks (RFC 4632); empty for none. */
  NETWORKS("IP addresses and networks such as 192.0.2.7 or 10.0.0.0/8 with commas between"),
  /** Host names; empty for none. */
  HOSTS("host names such as bus.example.com with commas between, or `*`"),
  /** Host with or without a port; empty for none. */
  ENDPOINT("bus-1.example.com, 192.0.2.1:8082 or [2001:db8::1]:8082"),
  /** Hosts with their ports; empty for none. */
  ENDPOINTS("addresses such as bus-1.example.com:8082 with commas between"),
  /** WebSocket URLs; empty for none. */
  URLS("URLs such as wss://bus-1.example.com/bus with commas between"),
  /** Network interface; empty for none. */
  INTERFACE("an interface such as eth0, or an address"),
  /** Journals of durable topics; empty for none. */
  JOURNALS("journals such as `orders orders.> max-age=7d` with commas between"),
  /** File or directory; empty for none. */
  FILE("a file"),
  /** Secret, never printed; empty for none. */
  SECRET("up to 4096 visible ASCII characters"),
  /** On or off. */
  SWITCH("true or false"),
  /** Number of things. */
  COUNT("a whole number"),
  /** Number of bytes. */
  SIZE("a size such as 64KiB, 4MiB or 1GiB"),
  /** Time span, in milliseconds. */
  TIME("a time span such as 500ms, 5s, 2m, 1h or PT5S"),
  /** Value of {@link TransportType}. */
  TRANSPORT("auto, epoll or nio"),
  /** Value of {@link ClientScope}. */
  CLIENT_SCOPE("everyone, loopback or nobody"),
  /** Value of {@link AnonymousScope}. */
  ANONYMOUS_SCOPE("auto, everyone, loopback or nobody"),
  /** Value of {@link BrowserBlock}. */
  BROWSER_BLOCK("allow or refuse"),
  /** Value of {@link CertificateSubject}. */
  CERTIFICATE_SUBJECT("uri-san, dns-san or cn"),
  /** Value of {@link ClientAuth}. */
  CLIENT_AUTH("none, optional or required"),
  /** Algorithms of signatures of tokens (RFC 7518, RFC 8037). */
  ALGORITHMS(
      "names such as RS256,ES256 with commas between: HS, RS, PS or ES with 256, 384 or 512;"
          + " EdDSA"),
  /** Name that others have chosen; empty for none. */
  LABEL("up to 256 visible ASCII characters"),
  /** Claim of tokens; empty for none. */
  CLAIM("up to 256 visible ASCII characters, with single dots between names"),
  /** URL that is fetched; empty for none. */
  FETCHED_URL("an https:// URL; http:// only for this machine, by localhost or a loopback address"),
  /** Value of {@link AdminAuth}. */
  ADMIN_AUTH("auto or required"),
  /** Value of {@link LogConfig.Level}. */
  LOG_LEVEL("error, warn, info, debug or trace"),
  /** Value of {@link LogConfig.Format}. */
  LOG_FORMAT("text or json");

  private static final Pattern SIZE_TEXT =
      Pattern.compile("(\\d{1,19})\\s*(|B|KiB|MiB|GiB|TiB|PiB)", Pattern.CASE_INSENSITIVE);
  private static final Pattern TIME_TEXT = Pattern.compile("(\\d{1,19})\\s*(ms|s|m|h|d)");
  private static final String[] SIZE_UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

  private final String expectation;

  ValueType(String expectation) {
    this.expectation = expectation;
  }

  /**
   * Returns the legal values, for people.
   *
   * @return for example "true or false"
   */
  public String expectation() {
    return expectation;
  }

  /**
   * Returns whether values are numbers with a range.
   *
   * @return true for counts, sizes and time spans
   */
  public boolean numeric() {
    return this == COUNT || this == SIZE || this == TIME;
  }

  /**
   * Reads a number of this type.
   *
   * @param text for example "64KiB" for a size or "500ms" for a time span
   * @return a count, bytes or milliseconds
   * @throws IllegalArgumentException if the text is not of this type
   * @throws ArithmeticException if the number does not fit a long
   * @throws IllegalStateException if values of this type are not numbers
   */
  public long read(String text) {
    return switch (this) {
      case COUNT -> Long.parseLong(text.strip());
      case SIZE -> readSize(text.strip());
      case TIME -> readTime(text.strip());
      default -> throw new IllegalStateException(this + " is not a number");
    };
  }

  String print(long value) {
    return switch (this) {
      case SIZE -> printSize(value);
      case TIME -> printTime(value);
      default -> Long.toString(value);
    };
  }

  /**
   * Returns a time span as the configuration writes it.
   *
   * @param span whole milliseconds
   * @return for example "500ms" or "10s"
   */
  public static String time(Duration span) {
    return printTime(span.toMillis());
  }

  private static long readSize(String text) {
    Matcher matcher = SIZE_TEXT.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(text);
    }
    long scale = 1;
    for (String unit : SIZE_UNITS) {
      if (matcher.group(2).isEmpty() || unit.equalsIgnoreCase(matcher.group(2))) {
        break;
      }
      scale <<= 10;
    }
    return Math.multiplyExact(Long.parseLong(matcher.group(1)), scale);
  }

  private static long readTime(String text) {
    Matcher matcher = TIME_TEXT.matcher(text);
    if (matcher.matches()) {
      long scale =
          switch (matcher.group(2)) {
            case "ms" -> 1;
            case "s" -> 1_000;
            case "m" -> 60_000;
            case "h" -> 3_600_000;
            default -> 86_400_000;
          };
      return Math.multiplyExact(Long.parseLong(matcher.group(1)), scale);
    }
    if (text.equals("0")) {
      return 0;
    }
    try {
      return Duration.parse(text.toUpperCase(Locale.ROOT)).toMillis();
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException(text, e);
    }
  }

  private static String printSize(long value) {
    long rest = value;
    int unit = 0;
    while (rest != 0 && rest % 1024 == 0 && unit < SIZE_UNITS.length - 1) {
      rest /= 1024;
      unit++;
    }
    return unit == 0 ? Long.toString(rest) : rest + SIZE_UNITS[unit];
  }

  private static String printTime(long millis) {
    if (millis == 0) {
      return "0s";
    }
    if (millis % 1_000 != 0) {
      return millis + "ms";
    }
    long seconds = millis / 1_000;
    if (seconds % 86_400 == 0) {
      return seconds / 86_400 + "d";
    }
    if (seconds % 3_600 == 0) {
      return seconds / 3_600 + "h";
    }
    return seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
  }
}
