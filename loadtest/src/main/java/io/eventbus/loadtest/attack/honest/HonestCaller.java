package io.eventbus.loadtest.attack.honest;

import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.loadtest.attack.wire.Wires;
import io.eventbus.loadtest.run.Ticker;
import io.eventbus.loadtest.run.UniformRate;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.InvokeView;
import io.eventbus.protocol.ReplyView;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Welcome;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;

/**
 * A member of a service of its own, which answers at once, and a caller that makes a call whenever
 * one is due. A call that waits for the socket stays due when it was. Neither connects a second
 * time.
 */
final class HonestCaller {
  private static final int TIMEOUT_MILLIS = 30_000;
  private static final int CONCURRENCY = 64;
  // So that texts which differ in numbers only are counted together.
  private static final Pattern NUMBER = Pattern.compile("[0-9]+");

  private final int number;
  private final String service;
  private final int perSecond;
  private final byte[] payload;
  private final Phases phases;
  private final Map<Long, Long> due = new ConcurrentHashMap<>();
  private final Set<Long> served = ConcurrentHashMap.newKeySet();
  private final AtomicLong called = new AtomicLong();
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong doubled = new AtomicLong();
  private final Map<String, LongAdder> failures = new ConcurrentHashMap<>();
  private final List<String> closed = new CopyOnWriteArrayList<>();
  private final CompletableFuture<AttackWire> ready = new CompletableFuture<>();
  private volatile boolean stopped;

  HonestCaller(int number, int perSecond, int bytes, Phases phases) {
    this.number = number;
    this.service = "honest." + number;
    this.perSecond = perSecond;
    this.payload = new byte[bytes];
    this.phases = phases;
  }

  /** Connects both; the future ends when calls can be made. */
  CompletableFuture<AttackWire> connect(Wires wires) {
    Opening opening =
        Opening.client(wires.bus())
            .withHello(ClientFrames.hello("caller-" + number, wires.bus().token(), null));
    wires.openHonest(opening, new Member(wires, opening));
    return ready;
  }

  void start() {
    AttackWire wire = ready.join();
    wire.after(
        0,
        () -> {
          UniformRate rate = new UniformRate(Ticker.SYSTEM, System.nanoTime(), perSecond, 1, 0);
          next(wire, rate, rate.next());
        });
  }

  private void next(AttackWire wire, UniformRate rate, long at) {
    wire.afterNanos(
        Math.max(0, at - System.nanoTime()),
        () -> {
          if (!stopped) {
            long call = called.incrementAndGet();
            due.put(call, at);
            wire.sendMessage(ClientCalls.request(call, service, TIMEOUT_MILLIS, 0, payload));
            next(wire, rate, rate.next());
          }
        });
  }

  /** Calls no more. */
  void stop() {
    stopped = true;
  }

  boolean complete() {
    return due.isEmpty() || !closed.isEmpty();
  }

  CallOutcome outcome() {
    Map<String, Long> failed = new TreeMap<>();
    failures.forEach((code, count) -> failed.put(code, count.sum()));
    return new CallOutcome(
        called.get(), answered.get(), due.size(), doubled.get(), failed, List.copyOf(closed));
  }

  private void lost(String who, int code) {
    closed.add(who + " " + code);
    ready.completeExceptionally(
        new IllegalStateException("an honest " + who + " was closed with " + code));
  }

  /** Takes the time of a call that has ended; false if there is none of that number. */
  private boolean ended(long call) {
    Long at = due.remove(call);
    if (at == null) {
      doubled.incrementAndGet();
      return false;
    }
    phases.record(at, System.nanoTime());
    return true;
  }

  private final class Calling implements AttackPeer {
    private final ReplyView reply = new ReplyView();

    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      ready.complete(wire);
    }

    @Override
    public boolean reads() {
      return true;
    }

    @Override
    public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
      if (type == TypeCode.REPLY.code()) {
        reply.read(message, from, to, FrameLimits.DEFAULT);
        if (ended(reply.call())) {
          answered.incrementAndGet();
        }
      } else if (type == TypeCode.FAILURE.code()) {
        var failure = ServiceFrames.failure(message, from, to);
        if (ended(failure.getCall())) {
          String why = NUMBER.matcher(failure.getMessage()).replaceAll("N");
          String code = failure.getCode() + ", executed " + failure.getExecuted() + ": " + why;
          failures.computeIfAbsent(code, c -> new LongAdder()).increment();
        }
      } else {
        closed.add("caller got a frame of type " + type);
      }
    }

    @Override
    public void closed(AttackWire wire, int code) {
      lost("caller", code);
    }
  }

  private final class Member implements AttackPeer {
    private final Wires wires;
    private final Opening opening;
    private final InvokeView invoke = new InvokeView();

    Member(Wires wires, Opening opening) {
      this.wires = wires;
      this.opening = opening;
    }

    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      wire.sendMessage(ClientCalls.register(1, service, CONCURRENCY));
    }

    @Override
    public boolean reads() {
      return true;
    }

    @Override
    public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
      if (type == TypeCode.CONFIRM.code()) {
        wires.openHonest(opening, new Calling());
      } else if (type == TypeCode.INVOKE.code()) {
        invoke.read(message, from, to, FrameLimits.DEFAULT);
        if (!served.add(invoke.request())) {
          doubled.incrementAndGet();
        }
        wire.sendMessage(ClientCalls.reply(invoke.call(), payload, 0));
      } else if (type == TypeCode.PROBLEM.code()) {
        String said = ControlFrames.problem(message, from, to).getMessage();
        closed.add("member: " + said);
        ready.completeExceptionally(new IllegalStateException("an honest member: " + said));
      } else if (type != TypeCode.CANCEL.code()) {
        closed.add("member got a frame of type " + type);
      }
    }

    @Override
    public void closed(AttackWire wire, int code) {
      lost("member", code);
    }
  }
}
