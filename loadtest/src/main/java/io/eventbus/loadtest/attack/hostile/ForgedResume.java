package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Welcome;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A client that chooses its own resume, and so its producer number, if the bus lets it. */
record ForgedResume() implements Attack {
  private static final int LENGTH = 43;
  private static final int ANSWER_SECONDS = 3;

  @Override
  public String name() {
    return "forged-resume";
  }

  @Override
  public String what() {
    return "a resume that no bus has issued: it must not give the number made of it";
  }

  @Override
  public void run(Field field) throws GeneralSecurityException, InterruptedException {
    String forged = "A".repeat(LENGTH);
    Found found = hello(field, forged);
    long made = number(forged);
    field
        .tally()
        .check(
            "a forged resume does not choose the producer number",
            found.welcome == null || found.welcome.getProducer() != made,
            found.welcome == null ? "refused with " + found.code : "number " + made + " given");
    // A token that was issued has to be taken, or refusing proves nothing.
    Found first = hello(field, null);
    Found again = first.welcome == null ? first : hello(field, first.welcome.getResume());
    field
        .tally()
        .check(
            "an issued resume keeps the producer number",
            first.welcome != null
                && again.welcome != null
                && first.welcome.getProducer() == again.welcome.getProducer(),
            again.welcome == null ? "refused with " + again.code : "welcomed");
    field.untilOver();
  }

  private record Found(@Nullable Welcome welcome, int code) {}

  private static Found hello(Field field, @Nullable String resume) throws InterruptedException {
    CompletableFuture<Found> found = new CompletableFuture<>();
    field
        .wires()
        .open(
            Opening.client(field.bus())
                .withHello(ClientFrames.hello("forger", field.bus().token(), resume)),
            new AttackPeer() {
              @Override
              public void welcomed(AttackWire wire, Welcome welcome) {
                found.complete(new Found(welcome, 0));
                wire.end();
              }

              @Override
              public void closed(AttackWire wire, int code) {
                found.complete(new Found(null, code));
              }
            });
    try {
      return found.get(ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return new Found(null, 0);
    }
  }

  /** The number that an earlier rule makes of a resume, see docs/adr/0002. */
  static long number(String resume) throws GeneralSecurityException {
    byte[] hash =
        MessageDigest.getInstance("SHA-256").digest(resume.getBytes(StandardCharsets.US_ASCII));
    return Math.max(1, ByteBuffer.wrap(hash).getLong() & Long.MAX_VALUE);
  }
}
