package io.eventbus.server.subscription;

import io.eventbus.protocol.TopicFilter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Positions of a filter's wildcards: how many tokens it has, which of them are {@code *}, and
 * whether {@code >} follows. Of all filters with the same pattern one at most matches a topic, so
 * the number of patterns bounds the cost of a look-up.
 */
public record WildcardPattern(int shape) implements Comparable<WildcardPattern> {
  /** Number of positions of a token. */
  private static final int TOKENS = 16;

  private static final int TAIL = 1 << 30;

  /**
   * Number of tokens, the tail not counted, up to which a pattern is short. There are 57 of these:
   * too few to make a look-up slow, and the ones that most clients need.
   */
  private static final int SHORT_TOKENS = 4;

  /** Returns the pattern of a filter; null for a filter without wildcards. */
  public static @Nullable WildcardPattern of(TopicFilter filter) {
    if (filter.isExact()) {
      return null;
    }
    List<String> tokens = filter.tokens();
    int shape = tokens.size() << TOKENS | (filter.hasTail() ? TAIL : 0);
    for (int i = 0; i < tokens.size(); i++) {
      if (tokens.get(i).equals("*")) {
        shape |= 1 << i;
      }
    }
    return new WildcardPattern(shape);
  }

  /** Compares by the shape, so that a table of patterns that collide stays fast. */
  @Override
  public int compareTo(WildcardPattern other) {
    return Integer.compare(shape, other.shape);
  }

  /**
   * Returns whether this is one of the few patterns that need no bound: at most four tokens before
   * a tail.
   */
  public boolean isShort() {
    return (shape & ~TAIL) >>> TOKENS <= SHORT_TOKENS;
  }
}
