package io.eventbus.server.call;

import io.eventbus.server.call.tunnel.TunnelClient;
import io.eventbus.server.call.tunnel.TunnelEnds;
import io.eventbus.server.routing.ServiceMemory;
import io.eventbus.server.routing.ServiceShare;
import io.eventbus.server.stats.CallStats;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The calls that begin or end at connections of one event loop. Confined to it. */
public final class LoopCalls {
  /** Calls that are kept for the next ones; more are left to the garbage collector. */
  private static final int MAX_SPARE = 4_096;

  /** Time to look at a call that waits, by estimate. */
  private static final long LOOK_NANOS = 300;

  private static final byte[] NO_IDENTITY = {};

  private final BusCalls bus;
  private final int number;
  private final LoopPort port;
  private final CallStats stats;
  private final CallStats fromBuses;
  private final Slices slices;
  private final TimerWheel deadlines;
  private final LoopServices services;
  private final CallDispatcher places;
  private final CallCompletion endings;
  private final @Nullable CallHandOverQueue[] others;
  private final Deque<Call> spare = new ArrayDeque<>();
  private final Map<Object, FairnessGroup> shares = new HashMap<>();
  private final ServiceMemory.OfLoop memory;
  private final ServiceMemory.OfLoop registrations;
  private long dispatched;
  private boolean flushDue;
  private @Nullable CallHandOverQueue toldLast;

  LoopCalls(
      BusCalls bus, int number, LoopPort port, CallStats stats, CallStats fromBuses, long seed) {
    this.fromBuses = fromBuses;
    this.bus = bus;
    this.number = number;
    this.port = port;
    this.stats = stats;
    this.slices = new Slices(port, this::isOtherBehind);
    this.deadlines = new TimerWheel(port, slices);
    this.services = new LoopServices(this);
    this.places =
        new CallDispatcher(
            this,
            new MemberSelector(seed, number),
            new CallAdmission(bus.settings(), bus.queued()),
            bus.queued());
    this.endings = new CallCompletion(this);
    this.memory = bus.memory().services().ofLoop();
    this.registrations = bus.memory().registrations().ofLoop();
    this.others = new CallHandOverQueue[bus.loopCount()];
  }

  /** Makes what one connection may have the bus hold for its calls and tunnels. */
  public ServiceShare share(ServiceShare.Address address) {
    return new ServiceShare(memory, address);
  }

  /** Makes what one connection may have the bus hold for its registrations. */
  public ServiceShare registrations(ServiceShare.Address address) {
    return new ServiceShare(registrations, address);
  }

  /**
   * Makes a connection one that calls.
   *
   * @return nothing is kept of it after its {@link CallerConnection#close}, but what members still
   *     have
   */
  public CallerConnection caller(CallerPort end, CallerInfo info, ServiceShare held) {
    checkLoop();
    return new CallerConnection(
        this, end, info, joinShare(info), held, settings().callsInFlight(), stats);
  }

  /** Of an address without a limit, as tests do. */
  CallerConnection caller(CallerPort end, CallerInfo info) {
    return caller(end, info, share(ServiceShare.Address.UNBOUNDED));
  }

  /**
   * Makes a connection one that sends requests to all members of services.
   *
   * @return nothing is kept of it after its {@link GatheringClient#close}, but what members still
   *     have
   */
  public GatheringClient gatherer(GatherPort end, CallerInfo info, ServiceShare held) {
    checkLoop();
    return new GatheringClient(this, end, info, held);
  }

  /** Returns who is a member of which service of the bus. */
  public Presence presence() {
    return bus.presence();
  }

  /** Returns what answers requests to the bus itself. */
  public BusService busService() {
    return bus.busService();
  }

  /** The calls that have been under way for longest, the oldest first. */
  List<OpenCall> slowest(int most) {
    checkLoop();
    return SlowCalls.of(deadlines, most, now());
  }

  /** What sends the parts of one request to so many members. */
  CallerConnection callerOfMembers(
      CallerPort end, CallerInfo info, ServiceShare held, int members, long request) {
    return new CallerConnection(this, end, info, joinShare(info), held, members, stats, request);
  }

  private FairnessGroup joinShare(CallerInfo info) {
    FairnessGroup share = shares.computeIfAbsent(info.share(), FairnessGroup::new);
    share.clients++;
    return share;
  }

  /**
   * Makes another bus one that calls, by a stream.
   *
   * @param share what the calls of that bus have in common, by {@code equals}: they take turns with
   *     those of other buses
   * @param most how many calls may be open
   */
  public CallerConnection bus(CallerPort end, Object share, int most) {
    checkLoop();
    CallerInfo info = new CallerInfo(0, NO_IDENTITY, share);
    return new CallerConnection(
        this, end, info, joinShare(info), ServiceShare.ofBus(memory), most, fromBuses);
  }

  /** Makes another bus one that serves, by a stream. */
  public MemberConnection bus(MemberPort end) {
    checkLoop();
    return new MemberConnection(this, end, "", 0, true, ServiceShare.ofBus(memory));
  }

  /** Makes another bus one that asks for places of a service, by a stream. */
  public PeerDemand asker(ServiceKey service) {
    checkLoop();
    return new PeerDemand(this, service);
  }

  void leaveShare(FairnessGroup share) {
    if (--share.clients == 0) {
      shares.remove(share.key);
    }
  }

  /**
   * Makes a connection one that serves in the default account, of an address without a limit.
   *
   * @param member the member's number: the producer number of the client, not 0
   * @return nothing is kept of it after its {@link MemberConnection#close}
   */
  public MemberConnection server(MemberPort end, long member) {
    return server(end, "", member, share(ServiceShare.Address.UNBOUNDED));
  }

  /**
   * Makes a connection one that serves in an account.
   *
   * @param account whose services; empty for the default account
   */
  public MemberConnection server(MemberPort end, String account, long member, ServiceShare held) {
    checkLoop();
    return new MemberConnection(this, end, account, member, false, held);
  }

  /**
   * Makes a connection one with ends of streams and tunnels.
   *
   * @return nothing is kept of it after its {@link TunnelClient#close}
   */
  public TunnelClient tunnels(TunnelEnds ends, ServiceShare held) {
    checkLoop();
    return new TunnelClient(
        new TunnelCrossing(this), ends, held, settings().tunnels(), stats, this::isShortOfMemory);
  }

  boolean isCurrent() {
    return port.isCurrent();
  }

  /**
   * Gives other loops what has been collected for them; to be called at the end of each round in
   * which {@link LoopPort#flushSoon} was called.
   */
  public void flush() {
    checkLoop();
    flushDue = false;
    for (CallHandOverQueue other : others) {
      if (other != null) {
        other.flush();
      }
    }
  }

  /** Begins a note to another loop; to be filled in at once. */
  CallHandOverQueue.Note tell(int loop, CallHandOverQueue.Kind kind) {
    CallHandOverQueue queue = queue(loop);
    toldLast = queue;
    if (!flushDue) {
      flushDue = true;
      port.flushSoon();
    }
    return queue.add(kind);
  }

  private CallHandOverQueue queue(int loop) {
    CallHandOverQueue queue = others[loop];
    if (queue == null) {
      Executor executor = bus.executor(loop);
      queue = new CallHandOverQueue(bus.loop(loop), executor);
      others[loop] = queue;
    }
    return queue;
  }

  /** Whether the loop that was told last has much to do of what it was told before. */
  private boolean isOtherBehind() {
    CallHandOverQueue last = toldLast;
    return last != null && last.isBehind();
  }

  /** What another loop has told. */
  void receive(CallHandOverQueue.Note note) {
    checkLoop();
    long now = now();
    switch (note.kind) {
      case INVOKE -> note.call().member().client().invoke(note.call(), now);
      case CANCEL -> note.member().client().cancelled(note.number, note.timedOut, note.text, now);
      case RESUME -> note.member().resume();
      case REPLY -> endings.replied(note.call(), note.handledMicros, note.tunnel, note.body(), now);
      case FAILURE ->
          endings.failed(
              note.call(), note.code, note.executed, note.retryAfterMillis, note.body(), now);
      case RETURN -> endings.returned(note.call(), note.returned, now);
      case PLACE -> places.granted(note.member(), now);
      case UNSERVED -> places.unserved(note.service());
      case MEMBER_GONE -> places.gone(note.member());
      case TUNNEL_DATA -> note.tunnel().sendData(note.number, note.last, note.takeBody());
      case TUNNEL_CREDIT -> note.tunnel().sendCredit(note.number, note.received);
      case TUNNEL_END -> note.tunnel().sendEnd(note.ending());
    }
  }

  /**
   * Tells all loops that nobody serves a service any more. A loop that was told in this round
   * already is not told again: it will see how things are then.
   *
   * @return how long that may keep the loops, in nanoseconds, by estimate
   */
  long unserved(LocalService service) {
    long waiting = service.queued().get();
    boolean told = others.length == 1;
    for (int loop = 0; loop < others.length; loop++) {
      if (loop != number && queue(loop).isFirst(service)) {
        tell(loop, CallHandOverQueue.Kind.UNSERVED).service = service;
        told = true;
      }
    }
    places.unserved(service);
    return told ? waiting * LOOK_NANOS : 0;
  }

  /** A member takes no calls any more. */
  void cannotBeCalled(ServiceMember member) {
    if (!member.wasPinned()) {
      return;
    }
    for (int loop = 0; loop < others.length; loop++) {
      if (loop != number && queue(loop).isFirst(member)) {
        tell(loop, CallHandOverQueue.Kind.MEMBER_GONE).member = member;
      }
    }
    places.gone(member);
  }

  /** A member of any loop has to go on although it has failed. */
  void resume(ServiceMember member) {
    if (member.loop() == number) {
      member.resume();
    } else {
      tell(member.loop(), CallHandOverQueue.Kind.RESUME).member = member;
    }
  }

  Call take() {
    Call call = spare.poll();
    return call == null ? new Call(this) : call;
  }

  void recycle(Call call) {
    if (spare.size() < MAX_SPARE) {
      spare.push(call);
    }
  }

  /** Another number each time, for the whole bus. */
  long nextNumber() {
    dispatched++;
    return number - dispatched * others.length;
  }

  void checkLoop() {
    assert port.isCurrent() : "not on loop " + number;
  }

  int number() {
    return number;
  }

  long now() {
    return port.nanoTime();
  }

  boolean isShortOfMemory() {
    return bus.memory().isOver();
  }

  /** Says whether the bus is too short of memory for more of a connection. */
  boolean isShortOfMemory(ServiceShare held) {
    // A client that holds little waits for nobody's eviction: those that hold the most give it back
    // soon.
    return held.bytes() < ServiceShare.SMALL_BYTES
        ? bus.memory().isFarOver()
        : bus.memory().isOver();
  }

  /** Returns the bounds of calls. */
  public CallSettings settings() {
    return bus.settings();
  }

  ServiceDirectory directory() {
    return bus.directory();
  }

  /**
   * Returns how many event loops the bus has.
   *
   * @return at least 1
   */
  public int loops() {
    return others.length;
  }

  CallStats stats() {
    return stats;
  }

  /** Does all that is left of what has ended, before the loop itself ends. */
  public void finish() {
    checkLoop();
    slices.finish();
  }

  /**
   * Does something in steps, now or in later turns of the loop: what a connection leaves that has
   * ended, for instance.
   *
   * @param step does a piece that takes microseconds, and says whether there is more
   */
  public void inSlices(BooleanSupplier step) {
    checkLoop();
    slices.add(now -> step.getAsBoolean());
  }

  Slices slices() {
    return slices;
  }

  TimerWheel deadlines() {
    return deadlines;
  }

  LoopServices services() {
    return services;
  }

  CallDispatcher places() {
    return places;
  }

  CallCompletion endings() {
    return endings;
  }
}
