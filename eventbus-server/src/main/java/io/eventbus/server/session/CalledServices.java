package io.eventbus.server.session;

import io.eventbus.protocol.RequestView;
import io.eventbus.protocol.ServiceName;
import io.eventbus.server.security.FilterRules;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which services one client may call, decided once for each and not for each call: a name that was
 * called before costs a look at a table without chains, in which a name takes the place of another.
 * Confined to the loop of the client's connection.
 */
final class CalledServices {
  private static final int SLOTS = 16;

  /** So many bytes of names are looked at in the time of one unit of a turn. */
  private static final int BYTES_A_UNIT = 8;

  /** So many tokens of rules are compared in that time. */
  private static final int STEPS_A_UNIT = 4;

  /** What is known of one name. */
  record Decision(ByteBuffer name, String service, @Nullable String problem, boolean allowed) {}

  private final @Nullable Decision[] decided = new Decision[SLOTS];
  private FilterRules rules;
  private int work;

  /**
   * Knows nothing yet.
   *
   * @param rules which services the client may call
   */
  CalledServices(FilterRules rules) {
    this.rules = rules;
  }

  /** Says what the client may call from now on. */
  void permit(FilterRules newRules) {
    rules = newRules;
    Arrays.fill(decided, null);
  }

  /** Returns what is known of the service of a request; allocates nothing if it is known. */
  Decision decide(ByteBuffer in, RequestView request) {
    int start = request.serviceStart();
    int length = request.serviceLength();
    int hash = 1;
    for (int i = start; i < start + length; i++) {
      hash = 31 * hash + in.get(i);
    }
    int slot = (hash ^ hash >>> 16) & (SLOTS - 1);
    Decision known = decided[slot];
    if (known != null && isNamed(known, in, start, length)) {
      return known;
    }
    Decision made = make(request.service(), in, start, length);
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

  private Decision make(String text, ByteBuffer in, int start, int length) {
    byte[] name = new byte[length];
    in.get(start, name);
    work += 8 + length / BYTES_A_UNIT + rules.steps() / STEPS_A_UNIT;
    String problem = ServiceName.problem(text);
    return new Decision(
        ByteBuffer.wrap(name), text, problem, problem == null && rules.allows(text));
  }

  /** Returns what deciding has cost since the last call, in units of a turn. */
  int takeWork() {
    int taken = work;
    work = 0;
    return taken;
  }
}
