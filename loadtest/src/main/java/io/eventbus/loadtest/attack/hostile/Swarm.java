package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Welcome;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

/**
 * A number of connections that do the same. Those that end are opened again by {@link #hold}, until
 * the attack is over. For the thread of the attack.
 */
final class Swarm {
  /** So many may be connecting at a time, less than a listener's backlog. */
  private static final int CONNECTING = 256;

  private static final int REFILL_MILLIS = 20;

  private final Field field;
  private final Opening opening;
  private final int count;
  private final IntFunction<AttackPeer> peers;
  private final Semaphore connecting = new Semaphore(CONNECTING);
  private final AtomicInteger alive = new AtomicInteger();
  private final AtomicInteger welcomed = new AtomicInteger();
  private int opened;

  /** Prepares connections; the peers get the numbers from 0, those opened again the next ones. */
  Swarm(Field field, Opening opening, int count, IntFunction<AttackPeer> peers) {
    this.field = field;
    this.opening = opening;
    this.count = count;
    this.peers = peers;
  }

  /** Opens what is missing. */
  Swarm fill() throws InterruptedException {
    while (!field.over() && alive.get() < count) {
      if (connecting.tryAcquire(REFILL_MILLIS, TimeUnit.MILLISECONDS)) {
        alive.incrementAndGet();
        field.wires().open(opening, new Member(peers.apply(opened++)));
      }
    }
    return this;
  }

  /** Keeps all of them open until the attack is over. */
  void hold() throws InterruptedException {
    while (!field.over()) {
      fill();
      field.sleep(REFILL_MILLIS);
    }
  }

  /** Waits until the bus has let in so many, or the time has passed. */
  boolean awaitWelcomed(int min, long millis) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (welcomed.get() < min && System.nanoTime() < end && !field.over()) {
      field.sleep(5);
    }
    return welcomed.get() >= min;
  }

  int alive() {
    return alive.get();
  }

  /** Counts on the way to the peer. */
  private final class Member implements AttackPeer {
    private final AttackPeer peer;
    private final AtomicBoolean waiting = new AtomicBoolean(true);

    Member(AttackPeer peer) {
      this.peer = peer;
    }

    private void arrived() {
      if (waiting.compareAndSet(true, false)) {
        connecting.release();
      }
    }

    @Override
    public void connected(AttackWire wire) {
      arrived();
      peer.connected(wire);
    }

    @Override
    public void upgraded(AttackWire wire) {
      peer.upgraded(wire);
    }

    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      welcomed.incrementAndGet();
      peer.welcomed(wire, welcome);
    }

    @Override
    public boolean reads() {
      return peer.reads();
    }

    @Override
    public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
      peer.frame(wire, type, message, from, to);
    }

    @Override
    public void octets(AttackWire wire, ByteBuf octets) {
      peer.octets(wire, octets);
    }

    @Override
    public void writable(AttackWire wire) {
      peer.writable(wire);
    }

    @Override
    public void closed(AttackWire wire, int code) {
      arrived();
      alive.decrementAndGet();
      peer.closed(wire, code);
    }
  }
}
