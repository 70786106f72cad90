package io.eventbus.server.session;

import io.eventbus.protocol.RequestView;
import io.eventbus.protocol.ServiceName;
import io.eventbus.server.security.FilterRules;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Cache of decisions which services clients may call. A name that was called before costs a look-up
 * in a fixed table, in which a new name replaces another with the same slot. All connections of a
 * loop share it, because clients choose how many connections and names there are. Confined to the
 * loop.
 */
final class CalledServices {
  private static final int SLOTS = 256;

  /** Bytes of names that are compared in one unit of work. */
  private static final int BYTES_PER_UNIT = 8;

  /** Tokens of rules that are compared in one unit of work. */
  private static final int STEPS_PER_UNIT = 4;

  /** Decision for one name under one set of rules. */
  record Decision(
      FilterRules rules,
      ByteBuffer name,
      String service,
      @Nullable String problem,
      boolean allowed) {}

  private final @Nullable Decision[] decided = new Decision[SLOTS];
  private int work;

  /**
   * Returns whether the rules allow a call of the requested service; allocates nothing for a cached
   * decision.
   */
  Decision decide(ByteBuffer in, RequestView request, FilterRules rules) {
    int start = request.serviceStart();
    int length = request.serviceLength();
    int hash = System.identityHashCode(rules);
    for (int i = start; i < start + length; i++) {
      hash = 31 * hash + in.get(i);
    }
    int slot = (hash ^ hash >>> 16) & (SLOTS - 1);
    Decision known = decided[slot];
    if (known != null && known.rules() == rules && isNamed(known, in, start, length)) {
      return known;
    }
    Decision decision = make(request.service(), in, start, length, rules);
    decided[slot] = decision;
    return decision;
  }

  private static boolean isNamed(Decision known, ByteBuffer in, int start, int length) {
    ByteBuffer name = known.name();
    if (name.capacity() != length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (name.get(i) != in.get(start + i)) {
        return false;
      }
    }
    return true;
  }

  private Decision make(String text, ByteBuffer in, int start, int length, FilterRules rules) {
    byte[] name = new byte[length];
    in.get(start, name);
    work += 8 + length / BYTES_PER_UNIT + rules.steps() / STEPS_PER_UNIT;
    String problem = ServiceName.problem(text);
    return new Decision(
        rules, ByteBuffer.wrap(name), text, problem, problem == null && rules.allows(text));
  }

  /** Returns the cost of decisions since the last call, in units of work. */
  int takeWork() {
    int taken = work;
    work = 0;
    return taken;
  }
}
