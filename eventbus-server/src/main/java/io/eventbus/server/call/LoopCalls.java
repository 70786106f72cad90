package io.eventbus.server.call;

import io.eventbus.server.call.dispatch.CallDispatcher;
import io.eventbus.server.call.dispatch.CandidateMember;
import io.eventbus.server.call.dispatch.CandidateService;
import io.eventbus.server.call.dispatch.DispatchLoop;
import io.eventbus.server.call.dispatch.FairnessGroup;
import io.eventbus.server.call.dispatch.QueuedService;
import io.eventbus.server.call.tunnel.TunnelClient;
import io.eventbus.server.call.tunnel.TunnelEnds;
import io.eventbus.server.memory.ServiceMemory;
import io.eventbus.server.memory.ServiceShare;
import io.eventbus.server.stats.CallStats;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** Calls that begin or end at connections of one event loop. Confined to it. */
public final class LoopCalls {
  /** Maximum calls that are kept for reuse; more are left to the garbage collector. */
  private static final int MAX_SPARE = 4_096;

  /** Estimated time to examine a waiting call. */
  private static final long CHECK_NANOS = 300;

  private static final byte[] NO_IDENTITY = {};

  private final BusCalls bus;
  private final int number;
  private final LoopPort port;
  private final CallStats stats;
  private final CallStats fromBuses;
  private final Slices slices;
  private final TimerWheel deadlines;
  private final LoopServices services;
  private final CallDispatcher dispatcher;
  private final CallCompletion completion;
  private final @Nullable CallHandOver[] others;
  private final Deque<Call> spare = new ArrayDeque<>();
  private final Map<Object, FairnessGroup> groups = new HashMap<>();
  private final ServiceMemory.OfLoop memory;
  private final ServiceMemory.OfLoop registrations;
  private long dispatched;
  private boolean flushDue;
  private @Nullable CallHandOver notifiedLast;

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
    this.dispatcher =
        new CallDispatcher(new Dispatch(), bus.settings().waitLimits(), bus.queued(), seed);
    this.completion = new CallCompletion(this);
    this.memory = bus.memory().services().ofLoop();
    this.registrations = bus.memory().registrations().ofLoop();
    this.others = new CallHandOver[bus.loopCount()];
  }

  /** Creates the memory share of one connection for its calls and tunnels. */
  public ServiceShare share(ServiceShare.Address address) {
    return new ServiceShare(memory, address);
  }

  /** Creates the memory share of one connection for its registrations. */
  public ServiceShare registrations(ServiceShare.Address address) {
    return new ServiceShare(registrations, address);
  }

  /**
   * Creates a caller for a connection. Nothing is kept of it after {@link CallerConnection#close},
   * except calls that members still have.
   */
  public CallerConnection caller(CallerPort end, CallerInfo info, ServiceShare held) {
    checkLoop();
    return new CallerConnection(
        this, end, info, joinGroup(info), held, settings().callsInFlight(), stats);
  }

  /** Creates a caller without an address limit, for tests. */
  CallerConnection caller(CallerPort end, CallerInfo info) {
    return caller(end, info, share(ServiceShare.Address.UNBOUNDED));
  }

  /**
   * Creates a sender of requests to all members. Nothing is kept of it after {@link
   * GatheringClient#close}, except calls that members still have.
   */
  public GatheringClient gatherer(GatherPort end, CallerInfo info, ServiceShare held) {
    checkLoop();
    return new GatheringClient(this, end, info, held);
  }

  /** Returns the presence of members. */
  public Presence presence() {
    return bus.presence();
  }

  /** Returns the responder to requests to the bus itself. */
  public BusService busService() {
    return bus.busService();
  }

  /** Returns the oldest open calls, oldest first. */
  List<OpenCall> slowest(int max) {
    checkLoop();
    return SlowCalls.of(deadlines, max, now());
  }

  /** Creates the caller of the parts of one request to this many members. */
  CallerConnection callerOfMembers(
      CallerPort end, CallerInfo info, ServiceShare held, int members, long request) {
    return new CallerConnection(this, end, info, joinGroup(info), held, members, stats, request);
  }

  private FairnessGroup joinGroup(CallerInfo info) {
    FairnessGroup group = groups.computeIfAbsent(info.share(), FairnessGroup::new);
    group.join();
    return group;
  }

  /**
   * Creates a caller for a stream of a peer.
   *
   * @param share key that the calls of that peer share, compared by {@code equals}: they take turns
   *     with those of others
   * @param max maximum number of open calls
   */
  public CallerConnection bus(CallerPort end, Object share, int max) {
    checkLoop();
    CallerInfo info = new CallerInfo(0, NO_IDENTITY, share);
    return new CallerConnection(
        this, end, info, joinGroup(info), ServiceShare.ofBus(memory), max, fromBuses);
  }

  /** Creates a member connection for a stream to a peer that serves. */
  public MemberConnection bus(MemberPort end) {
    checkLoop();
    return new MemberConnection(this, end, "", 0, true, ServiceShare.ofBus(memory));
  }

  /** Creates the demand of a peer for a service, for one of its streams. */
  public PeerDemand demand(ServiceKey service) {
    checkLoop();
    return new PeerDemand(this, service);
  }

  void leaveGroup(FairnessGroup group) {
    if (group.leave()) {
      groups.remove(group.key());
    }
  }

  /**
   * Creates a member connection in the default account, without an address limit. Nothing is kept
   * of it after {@link MemberConnection#close}.
   *
   * @param member the member's number: the producer number of the client, not 0
   */
  public MemberConnection server(MemberPort end, long member) {
    return server(end, "", member, share(ServiceShare.Address.UNBOUNDED));
  }

  /**
   * Creates a member connection in an account.
   *
   * @param account account of the services; empty for the default account
   */
  public MemberConnection server(MemberPort end, String account, long member, ServiceShare held) {
    checkLoop();
    return new MemberConnection(this, end, account, member, false, held);
  }

  /**
   * Creates the ends of streams and tunnels of a connection. Nothing is kept of them after {@link
   * TunnelClient#close}.
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
   * Hands collected notes to other loops; called at the end of each round in which {@link
   * LoopPort#flushSoon} was called.
   */
  public void flush() {
    checkLoop();
    flushDue = false;
    for (CallHandOver other : others) {
      if (other != null) {
        other.flush();
      }
    }
  }

  /** Starts a note to another loop; to be filled in at once. */
  CallNote startNote(int loop, CallNote.Kind kind) {
    CallHandOver queue = queue(loop);
    notifiedLast = queue;
    if (!flushDue) {
      flushDue = true;
      port.flushSoon();
    }
    return queue.add(kind);
  }

  private CallHandOver queue(int loop) {
    CallHandOver queue = others[loop];
    if (queue == null) {
      Executor executor = bus.executor(loop);
      queue = new CallHandOver(bus.loop(loop), executor);
      others[loop] = queue;
    }
    return queue;
  }

  /** Returns whether the loop that got the last note is behind with earlier ones. */
  private boolean isOtherBehind() {
    CallHandOver last = notifiedLast;
    return last != null && last.isFull();
  }

  /** Processes a note of another loop. */
  void receive(CallNote note) {
    checkLoop();
    long now = now();
    switch (note.kind) {
      case INVOKE -> note.call().member().client().invoke(note.call(), now);
      case CANCEL -> note.member().client().cancelled(note.number, note.timedOut, note.text, now);
      case RESUME -> note.member().resume();
      case REPLY ->
          completion.replied(note.call(), note.handledMicros, note.tunnel, note.body(), now);
      case FAILURE ->
          completion.failed(
              note.call(), note.code, note.executed, note.retryAfterMillis, note.body(), now);
      case RETURN -> completion.returned(note.call(), note.returned, now);
      case PLACE -> dispatcher.granted(note.member(), now);
      case UNSERVED -> unservedHere(note.service());
      case MEMBER_GONE -> dispatcher.memberGone(note.member());
      case TUNNEL_DATA -> note.tunnel().sendData(note.number, note.last, note.takeBody());
      case TUNNEL_CREDIT -> note.tunnel().sendCredit(note.number, note.received);
      case TUNNEL_END -> note.tunnel().sendEnd(note.ending());
    }
  }

  /**
   * Notifies all loops that a service has lost its last member. A loop that was notified in this
   * round is skipped: it will see the state then. Returns the estimated nanoseconds that the loops
   * need.
   */
  long unserved(LocalService service) {
    long waiting = service.queued().get();
    boolean told = others.length == 1;
    for (int loop = 0; loop < others.length; loop++) {
      if (loop != number && queue(loop).isFirst(service)) {
        startNote(loop, CallNote.Kind.UNSERVED).service = service;
        told = true;
      }
    }
    unservedHere(service);
    return told ? waiting * CHECK_NANOS : 0;
  }

  private void unservedHere(LocalService service) {
    LoopService known = services.known(service);
    if (known != null) {
      dispatcher.unserved(known);
    }
  }

  /** Notifies all loops with calls for a member only that it takes no more calls. */
  void notifyMemberGone(ServiceMember member) {
    if (!member.wasPinned()) {
      return;
    }
    for (int loop = 0; loop < others.length; loop++) {
      if (loop != number && queue(loop).isFirst(member)) {
        startNote(loop, CallNote.Kind.MEMBER_GONE).member = member;
      }
    }
    dispatcher.memberGone(member);
  }

  /** Resumes a member of any loop that was paused after failures. */
  void resume(ServiceMember member) {
    if (member.loop() == number) {
      member.resume();
    } else {
      startNote(member.loop(), CallNote.Kind.RESUME).member = member;
    }
  }

  /** Gives a call to a member, for which a place was acquired. */
  void dispatch(Call call, ServiceMember member, long nowNanos) {
    if (call.number == 0) {
      call.stats().queueTime.record(nowNanos - call.begunNanos());
    }
    call.become(CallState.DISPATCHED);
    call.member = member;
    call.number = nextNumber();
    if (member.loop() == number) {
      member.client().invoke(call, nowNanos);
    } else {
      startNote(member.loop(), CallNote.Kind.INVOKE).call = call;
      call.client().end().chargeWork(CallHandOver.nanos(call.bytes()));
    }
  }

  /** Loop of the dispatcher. */
  private final class Dispatch implements DispatchLoop {
    @Override
    public int number() {
      return number;
    }

    @Override
    public long now() {
      return LoopCalls.this.now();
    }

    @Override
    public @Nullable QueuedService known(CandidateService service) {
      return services.known(service);
    }

    @Override
    public void grant(int loop, CandidateMember member) {
      startNote(loop, CallNote.Kind.PLACE).member = (ServiceMember) member;
    }

    @Override
    public void inSlices(LongPredicate step) {
      slices.add(step::test);
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

  /** Returns a number that is unique on the bus. */
  private long nextNumber() {
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

  /** Returns whether the bus is too short of memory for more calls of a connection. */
  boolean isShortOfMemory(ServiceShare held) {
    // A client that uses little does not wait for evictions: the largest ones release memory
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

  /** Returns the number of event loops of the bus. */
  public int loops() {
    return others.length;
  }

  CallStats stats() {
    return stats;
  }

  /** Finishes all work that is left of ended connections, before the loop itself ends. */
  public void finish() {
    checkLoop();
    slices.finish();
  }

  /**
   * Runs work in steps, now or in later turns of the loop, for instance to clean up after an ended
   * connection.
   *
   * @param step does a piece that takes microseconds, and returns whether there is more
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

  CallDispatcher dispatcher() {
    return dispatcher;
  }

  CallCompletion completion() {
    return completion;
  }
}
