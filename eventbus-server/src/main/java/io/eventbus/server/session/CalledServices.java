package io.eventbus.server.session;

import io.eventbus.protocol.RequestView;
import io.eventbus.protocol.ServiceName;
import io.eventbus.server.security.FilterRules;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Decisions which services clients may call, made once for each and not for each call: a name that
 * was called before costs a look at a table without chains, in which a name takes the place of
 * another. One table for all connections of a loop, because clients choose how many connections and
 * names there are. Confined to the loop.
 */
final class CalledServices {
  private static final int SLOTS = 256;

  /** So many bytes of names are looked at in the time of one unit of a turn. */
  private static final int BYTES_A_UNIT = 8;

  /** So many tokens of rules are compared in that time. */
  private static final int STEPS_A_UNIT = 4;

  /** Decision for one name by some rules. */
  record Decision(
      FilterRules rules,
      ByteBuffer name,
      String service,
      @Nullable String problem,
      boolean allowed) {}

  private final @Nullable Decision[] decided = new Decision[SLOTS];
  private int work;

  /**
   * Returns whether the service of a request may be called; allocates nothing if that is known.
   *
   * @param rules which services the client may call
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
    Decision made = make(request.service(), in, start, length, rules);
    decided[slot] = made;
    return made;
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
    work += 8 + length / BYTES_A_UNIT + rules.steps() / STEPS_A_UNIT;
    String problem = ServiceName.problem(text);
    return new Decision(
        rules, ByteBuffer.wrap(name), text, problem, problem == null && rules.allows(text));
  }

  /** Returns what deciding has cost since the last call, in units of a turn. */
  int takeWork() {
    int taken = work;
    work = 0;
    return taken;
  }
}
