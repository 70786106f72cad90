package io.eventbus.simulation;

import io.eventbus.link.LinkPeer;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandler;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Network that carries bytes between buses: in order on each connection, each message with a delay
 * of its own, and nothing at all from one side of a cut to the other.
 *
 * <p>A cut drops packets without notice, the worst that a network does. Connections behave as TCP
 * does on Linux: sent bytes stay with the sender, which tries again after 200 ms, 400 ms and so on;
 * an attempt to connect is repeated after 1 s, and given up after the 3 s that links allow.
 * Bandwidth is not modelled, nor the time that processors take.
 */
final class Network {
  /** Deadline of a connect, as {@code LinkOptions.handshakeDeadline}. */
  private static final long CONNECT_DEADLINE = 3 * Simulator.SECOND;

  private static final long CONNECT_AGAIN = Simulator.SECOND;
  private static final long FIRST_RETRANSMISSION = 200 * Simulator.MILLI;
  private static final byte[] END = new byte[0];

  /** Owner of an end of a connection. */
  interface Host {
    int number();

    SimulatedLoop loop();

    /** Returns the allocator of its connections' buffers. */
    ByteBufAllocator allocator();

    /** Returns its identity for others, for one channel. */
    LinkPeer self(String channel);

    /** Returns the handler of a connection that another has opened. */
    ChannelHandler accept(LinkPeer from);
  }

  /** Loss of messages on a connection, as no network does but a fault might. */
  interface Loss {
    boolean loses(int from, int to, byte[] message);
  }

  /** Delay of a message: evenly between the two. */
  record Latency(long minNanos, long maxNanos) {}

  private final Simulator simulator;
  private final Latency latency;
  private final List<Host> hosts = new ArrayList<>();
  private final List<Way> stuck = new ArrayList<>();
  private final Set<SimulatedChannel> channels = new LinkedHashSet<>();
  private Loss loss = (from, to, message) -> false;
  private int[] sides = {};
  private boolean[] dead = {};
  private int[][] attempts = {};
  private long connections;
  private long messages;
  private long bytes;

  Network(Simulator simulator, Latency latency) {
    this.simulator = simulator;
    this.latency = latency;
  }

  void hosts(List<? extends Host> all) {
    hosts.addAll(all);
    sides = new int[all.size()];
    dead = new boolean[all.size()];
    attempts = new int[all.size()][all.size()];
  }

  long messages() {
    return messages;
  }

  long bytes() {
    return bytes;
  }

  boolean reach(int a, int b) {
    return sides[a] == sides[b] && !dead[a] && !dead[b];
  }

  /** Cuts the network: only hosts of the same side reach each other. */
  void cut(int[] newSides) {
    sides = newSides.clone();
  }

  /** Kills a machine: nothing comes from it or to it any more. */
  void kill(int host) {
    dead[host] = true;
  }

  /** Loses messages from now on. */
  void lose(Loss which) {
    loss = which;
  }

  /** Heals the network: all reach all again, and kept bytes are sent again when they are due. */
  void heal() {
    sides = new int[sides.length];
    List<Way> waiting = List.copyOf(stuck);
    stuck.clear();
    waiting.forEach(Way::retransmit);
  }

  /** Ends all connections; nothing is sent on them any more. */
  void end() {
    lose((from, to, message) -> true);
    List.copyOf(channels).forEach(SimulatedChannel::end);
  }

  /** Returns the delay of a message that is not on a connection. */
  long delay(long... use) {
    return latency.minNanos()
        + (long) (simulator.fraction(use) * (latency.maxNanos() - latency.minNanos()));
  }

  /** Opens a connection, as {@code LinkNode.openStream} does. */
  CompletableFuture<LinkPeer> open(
      Host from, int to, String channel, Function<LinkPeer, ChannelHandler> handler) {
    CompletableFuture<LinkPeer> opened = new CompletableFuture<>();
    long attempt = attempts[from.number()][to]++;
    Way out = new Way(from.number(), to, attempt);
    Way back = new Way(to, from.number(), attempt);
    long deadline = simulator.now() + CONNECT_DEADLINE;
    connect(from, channel, handler, opened, out, back, deadline);
    return opened;
  }

  private void connect(
      Host from,
      String channel,
      Function<LinkPeer, ChannelHandler> handler,
      CompletableFuture<LinkPeer> opened,
      Way out,
      Way back,
      long deadline) {
    if (reach(out.from, out.to)) {
      // Connected after a way there and back; then the handshake, twice there and back.
      simulator.after(
          out.delay() + back.delay() + out.delay() + back.delay() + out.delay(),
          () -> accept(from, channel, handler, opened, out, back));
    } else if (simulator.now() + CONNECT_AGAIN < deadline) {
      // Once: the next time would be 3 s after the first.
      simulator.after(
          CONNECT_AGAIN,
          () -> {
            if (reach(out.from, out.to)) {
              connect(from, channel, handler, opened, out, back, deadline);
            } else {
              simulator.at(deadline, () -> fail(opened));
            }
          });
    } else {
      simulator.at(deadline, () -> fail(opened));
    }
  }

  private static void fail(CompletableFuture<LinkPeer> opened) {
    opened.completeExceptionally(new IOException("no answer in time"));
  }

  private void accept(
      Host from,
      String channel,
      Function<LinkPeer, ChannelHandler> handler,
      CompletableFuture<LinkPeer> opened,
      Way out,
      Way back) {
    if (!reach(out.from, out.to)) {
      simulator.after(CONNECT_DEADLINE, () -> fail(opened));
      return;
    }
    Host to = hosts.get(out.to);
    SimulatedChannel near = new SimulatedChannel(++connections, out);
    SimulatedChannel far = new SimulatedChannel(++connections, back);
    out.target = far;
    out.back = back;
    back.target = near;
    back.back = out;
    channels.add(far);
    to.loop().perform(() -> far.open(to.loop(), to.allocator(), to.accept(from.self(channel))));
    // Messages of the other end come after its readiness.
    back.lastArrival = simulator.now() + back.delay();
    simulator.at(
        back.lastArrival,
        () -> {
          if (!reach(out.from, out.to)) {
            simulator.after(CONNECT_DEADLINE, () -> fail(opened));
            return;
          }
          from.loop()
              .perform(
                  () -> {
                    LinkPeer peer = to.self(channel);
                    channels.add(near);
                    near.open(from.loop(), from.allocator(), handler.apply(peer));
                    opened.complete(peer);
                  });
        });
  }

  /** Direction of a connection. */
  final class Way {
    private final int from;
    private final int to;
    private final long attempt;
    private long sent;
    private long lastArrival;
    private @Nullable SimulatedChannel target;
    private @Nullable Way back;
    private @Nullable Deque<byte[]> waiting;
    private long waitingSince;

    private Way(int from, int to, long attempt) {
      this.from = from;
      this.to = to;
      this.attempt = attempt;
    }

    private long delay() {
      return Network.this.delay(from, to, attempt, sent++);
    }

    void send(byte[] message) {
      if (loss.loses(from, to, message)) {
        return;
      }
      messages++;
      bytes += message.length;
      long arrival = Math.max(lastArrival + 1, simulator.now() + delay());
      lastArrival = arrival;
      simulator.at(arrival, () -> arrive(message));
    }

    void close() {
      Way opposite = back;
      if (opposite != null && opposite.target != null) {
        channels.remove(opposite.target);
      }
      send(END);
    }

    private void arrive(byte[] message) {
      if (waiting != null || !reach(from, to)) {
        if (waiting == null) {
          waiting = new ArrayDeque<>();
          waitingSince = simulator.now();
          stuck.add(this);
        }
        waiting.add(message);
      } else {
        deliver(message);
      }
    }

    private void deliver(byte[] message) {
      SimulatedChannel channel = target;
      if (channel == null) {
        throw new IllegalStateException("a message on a connection that is not open");
      }
      if (!channel.isOpen()) {
        // A reset: who sends to a connection that is closed hears of it.
        if (message != END && back != null) {
          back.close();
        }
        return;
      }
      hosts
          .get(to)
          .loop()
          .perform(
              () -> {
                if (message == END) {
                  channel.closedByOther();
                } else {
                  channel.receive(message);
                }
              });
    }

    /** Retransmits at the first of its times that has not passed. */
    private void retransmit() {
      long due = waitingSince;
      for (long pause = FIRST_RETRANSMISSION; due < simulator.now(); pause *= 2) {
        due += pause;
      }
      simulator.at(
          due,
          () -> {
            Deque<byte[]> all = waiting;
            waiting = null;
            if (all != null) {
              all.forEach(this::arrive);
            }
          });
    }
  }
}
