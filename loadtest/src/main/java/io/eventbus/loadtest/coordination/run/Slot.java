package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.Counter;
import io.eventbus.loadtest.coordination.Put;
import io.eventbus.loadtest.coordination.Register;
import io.eventbus.loadtest.run.Integrity;
import org.jspecify.annotations.Nullable;

/**
 * Command in flight of a client: writes ascending numbers into a register of its own. A write
 * without an answer at the end of a run is repeated in the next one. For one thread at a time.
 */
final class Slot {
  private final CoordinationClient client;
  private final String register;
  private final int payloadBytes;
  private long sequence;
  private volatile long acknowledged;
  private volatile @Nullable Put pending;
  private long foreign;
  private Integrity worst = Integrity.WHOLE;

  Slot(CoordinationClient client, String register, int payloadBytes) {
    this.client = client;
    this.register = register;
    this.payloadBytes = payloadBytes;
  }

  CoordinationClient client() {
    return client;
  }

  /** Creates the register and returns this slot. */
  Slot create() {
    client.create(register, value(0));
    return this;
  }

  /** The write that is due: the one without an answer, or a new one. */
  Put next() {
    Put put = pending;
    if (put == null) {
      put = new Put(register, value(++sequence));
      pending = put;
    }
    return put;
  }

  void acknowledged() {
    acknowledged = sequence;
    pending = null;
  }

  /** An attempt failed: the write may have been carried out. */
  void failed(CoordinationException error) {
    if (error.kind().equals(CoordinationException.FOREIGN)) {
      foreign++;
    }
  }

  /**
   * Compares what the system holds with what it has acknowledged; nothing may be in flight. What an
   * earlier check has found wrong stays wrong.
   */
  Integrity check() {
    long expected = acknowledged;
    long uncertain = pending == null ? 0 : 1;
    Register found = client.readNewest(register);
    Integrity now =
        found.isAbsent()
            ? RegisterVerdict.absent(expected)
            : RegisterVerdict.of(
                expected, Math.max(0, Counter.of(found.value())), found.writes(), uncertain);
    worst = RegisterVerdict.worse(now.plus(new Integrity(0, 0, 0, foreign)), worst);
    return worst;
  }

  private String value(long number) {
    String digits = Long.toString(number);
    return " ".repeat(Math.max(0, payloadBytes - digits.length())) + digits;
  }
}
