package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Client that tries tokens as fast as it is answered. */
record TokenGuess() implements Attack {
  private static final int MAX_PER_SECOND = 100;
  private static final int LOG_LINES_PER_SECOND = 20;
  private static final int UNAUTHENTICATED = 4500;

  @Override
  public String name() {
    return "token-guess";
  }

  @Override
  public String what() {
    return "guesses of the token: at most " + MAX_PER_SECOND + "/s, and the log tells of them";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 16L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING
        .withToken("only-for-tests")
        .withLog()
        .withLogLinesPerSecond(LOG_LINES_PER_SECOND);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    Semaphore free = new Semaphore(field.knob("conns"));
    long begin = System.nanoTime();
    int n = 0;
    while (!field.over()) {
      if (free.tryAcquire(20, TimeUnit.MILLISECONDS)) {
        byte[] hello = ClientFrames.hello("guesser", "guess-" + n++, null);
        field.wires().open(Opening.client(field.bus()).withHello(hello), new Guess(field, free));
      }
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    long perSecond = Math.round(field.tally().get("guesses") / seconds);
    field.tally().add("guessesPerSecond", perSecond);
    field
        .tally()
        .check("guesses are slowed down", perSecond <= MAX_PER_SECOND, perSecond + " a second");
  }

  private record Guess(Field field, Semaphore free) implements AttackPeer {
    @Override
    public void closed(AttackWire wire, int code) {
      free.release();
      // Others were never looked at: they are no guesses.
      if (code == UNAUTHENTICATED) {
        field.tally().add("guesses", 1);
      }
    }
  }
}
