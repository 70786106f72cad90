package io.eventbus.cli.console;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Text from outside. */
public final class Text {
  private Text() {}

  /** Decodes UTF-8, or returns null for other bytes. */
  public static @Nullable String utf8(ByteBuffer bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  /** Returns a text with visible control characters: a terminal obeys them. */
  public static String printable(String text) {
    if (text.chars().noneMatch(Text::unprintable)) {
      return text;
    }
    StringBuilder safe = new StringBuilder();
    text.chars()
        .forEach(
            c -> {
              if (unprintable(c)) {
                safe.append("\\u%04x".formatted(c));
              } else {
                safe.append((char) c);
              }
            });
    return safe.toString();
  }

  private static boolean unprintable(int c) {
    // Format characters include those that turn the direction of writing.
    return Character.isISOControl(c) || Character.getType(c) == Character.FORMAT;
  }
}
