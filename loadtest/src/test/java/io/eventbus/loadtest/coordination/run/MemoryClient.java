package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.Put;
import io.eventbus.loadtest.coordination.Register;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Registers in memory; every n-th write fails after it was carried out, or before. */
final class MemoryClient implements CoordinationClient {
  private final Map<String, Register> registers = new ConcurrentHashMap<>();
  private final AtomicInteger count = new AtomicInteger();
  int failAfterEvery;
  int failBeforeEvery;
  volatile int forgetEvery;
  int doubleEvery;
  int dieAt;
  int foreignAt;
  boolean diesOfAnError;

  @Override
  public void create(String register, String value) {
    registers.put(register, new Register(register, value, 1, 0));
  }

  @Override
  public void write(Put put) {
    int number = count.incrementAndGet();
    if (number == dieAt && diesOfAnError) {
      throw new StackOverflowError("a fault of the client");
    }
    if (number == dieAt) {
      throw new IllegalStateException("a fault of the client");
    }
    if (number == foreignAt) {
      throw new CoordinationException(CoordinationException.FOREIGN, "somebody else wrote");
    }
    if (due(failBeforeEvery, number)) {
      throw new CoordinationException("before", "not carried out");
    }
    if (!due(forgetEvery, number)) {
      apply(put);
    }
    if (due(doubleEvery, number)) {
      apply(put);
    }
    if (due(failAfterEvery, number)) {
      throw new CoordinationException("after", "carried out all the same");
    }
  }

  private void apply(Put put) {
    registers.compute(
        put.register(),
        (name, now) -> {
          Register old = Objects.requireNonNull(now, name);
          return new Register(name, put.value(), old.version() + 1, old.writes() + 1);
        });
  }

  /** Returns the number of writes so far. */
  int count() {
    return count.get();
  }

  private static boolean due(int every, int number) {
    return every > 0 && number % every == 0;
  }

  @Override
  public Register read(String register) {
    return registers.getOrDefault(register, Register.absent(register));
  }

  @Override
  public Register readNewest(String register) {
    return read(register);
  }

  @Override
  public boolean replace(Register read, String value) {
    return registers.replace(
        read.name(), read, new Register(read.name(), value, read.version() + 1, read.writes() + 1));
  }

  @Override
  public void close() {
    // Nothing is open.
  }
}
