package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Guesses of the operators' token from many addresses, while an operator shows the right one. */
record AdminLockout(long addresses) implements Attack {
  private static final String TOKEN = "only-for-tests-of-operators";
  private static final int MIN_SECONDS = 15;
  private static final int EACH = 8;
  private static final int FIRST_SOURCE = 2;
  private static final int MAX_ADDRESSES = 250;
  private static final int OPERATOR = 1;
  private static final int TRIES = 30;
  private static final int BEFORE_MILLIS = 2_000;
  private static final int EVERY_MILLIS = 300;
  private static final int ANSWER_SECONDS = 5;
  private static final int STATUS_AT = 9;
  private static final String LET_IN = "200";

  @Override
  public String name() {
    return "admin-lockout-" + addresses;
  }

  @Override
  public String what() {
    return "guesses of the operators' token from "
        + addresses
        + " addresses, and an operator's "
        + TRIES
        + " tries";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("addresses", addresses);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS).withAdminToken(TOKEN);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    int from = Math.min(MAX_ADDRESSES, field.knob("addresses"));
    for (int i = 0; i < from * EACH; i++) {
      guess(field, FIRST_SOURCE + i % from);
    }
    field.sleep(BEFORE_MILLIS);
    int in = 0;
    int tries = 0;
    for (; tries < TRIES && !field.over(); tries++) {
      String status = ask(field, OPERATOR, TOKEN);
      field.tally().add("operator" + status, 1);
      in += status.equals(LET_IN) ? 1 : 0;
      field.sleep(EVERY_MILLIS);
    }
    field.tally().check("the operator is let in", in == tries && in > 0, in + " of " + tries);
  }

  private static void guess(Field field, int source) {
    Asks guess = new Asks("wrong-" + source + "-" + System.nanoTime());
    var unused =
        guess.status.whenComplete(
            (status, failure) -> {
              field.tally().add("guesses" + status, 1);
              if (!field.over()) {
                guess(field, source);
              }
            });
    field.wires().openTcp(field.bus().adminPort(), source, guess);
  }

  private static String ask(Field field, int source, String token) throws InterruptedException {
    Asks asks = new Asks(token);
    field.wires().openTcp(field.bus().adminPort(), source, asks);
    try {
      return asks.status.get(ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return "None";
    }
  }

  /** Asks once. */
  private static final class Asks implements AttackPeer {
    private final CompletableFuture<String> status = new CompletableFuture<>();
    private final StringBuilder answer = new StringBuilder();
    private final String token;

    Asks(String token) {
      this.token = token;
    }

    @Override
    public void connected(AttackWire wire) {
      String request =
          "GET /api/v1/bus HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
              + token
              + "\r\nConnection: close\r\n\r\n";
      wire.send(Unpooled.copiedBuffer(request, StandardCharsets.US_ASCII));
    }

    @Override
    public void octets(AttackWire wire, ByteBuf octets) {
      answer.append(octets.toString(StandardCharsets.ISO_8859_1));
    }

    @Override
    public void closed(AttackWire wire, int code) {
      status.complete(
          answer.length() > STATUS_AT + 3 ? answer.substring(STATUS_AT, STATUS_AT + 3) : "None");
    }
  }
}
