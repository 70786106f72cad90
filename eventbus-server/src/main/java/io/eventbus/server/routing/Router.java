package io.eventbus.server.routing;

import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.Topic;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.delivery.DeliveryHandOver;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.delivery.RouteTarget;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.subscription.Route;
import io.eventbus.server.subscription.RouteGroups;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Router of published frames to their subscribers. There is one for each event loop, confined to
 * it.
 *
 * <p>A caller first {@link #select}s the topic of a frame, then asks {@link #mustWait}, then {@link
 * #deliver}s. In steady state none of this allocates.
 *
 * <p>It is one class because frames from clients and from peers go the same way over the same
 * state, on the path of every event.
 */
public final class Router {
  private static final long[] NO_GROUPS = {};
  private static final RouteTarget[] NO_RELAYS = {};

  /** Group subscriptions of one connection for which the scratch buffer always has room. */
  private static final int MAX_TAIL_GROUPS = 16;

  private final int loop;
  private final DeliveryAllocator deliveries;
  private final BusMemory memory;
  private final LoopStats stats;
  private final RemoteForwarder remote;
  private final LoopRoutes routes;
  private final JournalRoutes journals;
  private final DeliveryHandOver[] handOvers;
  private final GroupSelector choice = new GroupSelector();
  private final ByteBuffer scratch = ByteBuffer.allocateDirect(Frames.MAX_DELIVER_HEAD);
  private final Runnable flushDue;
  private RouteCache.@Nullable Entry selected;
  private boolean starting;
  private int receivers;
  private int journalWork;

  /**
   * Creates the router of a loop of a bus without durable topics.
   *
   * @param remote forwards frames to peers
   */
  public Router(
      int loop,
      Loops loops,
      SubscriptionIndex index,
      ByteBufAllocator allocator,
      BusMemory memory,
      LoopStats stats,
      RemoteForwarder remote,
      Runnable flushDue) {
    this(loop, loops, index, allocator, memory, stats, remote, new JournalRoutes(), flushDue);
  }

  /**
   * Creates the router of a loop.
   *
   * @param remote forwards frames to peers
   * @param journals says which topics are durable
   */
  public Router(
      int loop,
      Loops loops,
      SubscriptionIndex index,
      ByteBufAllocator allocator,
      BusMemory memory,
      LoopStats stats,
      RemoteForwarder remote,
      JournalRoutes journals,
      Runnable flushDue) {
    this.loop = loop;
    this.journals = journals;
    this.routes = new LoopRoutes(index, remote);
    this.deliveries = new DeliveryAllocator(allocator, memory);
    this.memory = memory;
    this.stats = stats;
    this.remote = remote;
    this.starting = remote != RemoteForwarder.NONE;
    this.flushDue = flushDue;
    handOvers = new DeliveryHandOver[loops.count()];
    for (int i = 0; i < handOvers.length; i++) {
      handOvers[i] = new DeliveryHandOver(loops.executor(i));
    }
  }

  /**
   * Looks up the subscribers of the default account for a client's frame; returns null if the topic
   * is legal, else what is wrong with it.
   */
  public @Nullable String select(ByteBuffer in, PublishView publish) {
    return select(routes.unnamed(), in, publish);
  }

  /**
   * Looks up the subscribers of a client's frame; clients may not publish to topics of the system.
   * Returns null if the topic is legal, else what is wrong with it.
   */
  public @Nullable String select(SubscriptionIndex index, ByteBuffer in, PublishView publish) {
    // Checked first, because topics of the bus itself or of a peer are remembered.
    return publish.topicLength() > 0 && in.get(publish.topicStart()) == Topic.SYSTEM
        ? Topic.problem(publish.topic())
        : selectAny(index, in, publish);
  }

  /**
   * Looks up the subscribers of a frame of the bus itself, which may publish to any topic. Returns
   * null if the topic is legal, else what is wrong with it.
   */
  public @Nullable String selectAny(SubscriptionIndex index, ByteBuffer in, PublishView publish) {
    int start = publish.topicStart();
    int length = publish.topicLength();
    return selectKnown(index, in, start, length)
        ? null
        : selectNew(index, in, start, length, publish.topic());
  }

  /**
   * Looks up the subscribers of a peer's frame, which may be the peer's own. Returns null if the
   * topic is legal, else what is wrong with it.
   *
   * @param account of the event; nobody gets it if the account has no clients
   */
  public @Nullable String select(String account, ByteBuffer in, DeliverView deliver) {
    SubscriptionIndex index = routes.unnamed().accounts().findOrNobody(account);
    int start = deliver.topicStart();
    int length = deliver.topicLength();
    return selectKnown(index, in, start, length)
        ? null
        : selectNew(index, in, start, length, deliver.topic());
  }

  private boolean selectKnown(SubscriptionIndex index, ByteBuffer in, int start, int length) {
    RouteCache.Entry entry = routes.find(index, in, start, length);
    if (entry == null) {
      return false;
    }
    if (!routes.isCurrent(entry)) {
      routes.refresh(entry);
    }
    selected = entry;
    return true;
  }

  private @Nullable String selectNew(
      SubscriptionIndex index, ByteBuffer in, int start, int length, String topic) {
    String problem = Topic.formProblem(topic);
    if (problem == null) {
      selected = routes.add(index, in, start, length, topic);
    }
    return problem;
  }

  /** Returns the topic that was looked up last. */
  public String selectedTopic() {
    return selected().topic();
  }

  /**
   * Returns this loop's number of the topic that was looked up last, so that findings about it can
   * be remembered without keeping it; at least 1, never that of another topic, and another one if
   * the loop has forgotten the topic meanwhile.
   */
  public long selectedNumber() {
    return selected().number;
  }

  /** Returns the selected topic in UTF-8, not to be changed. */
  public byte[] selectedBytes() {
    return selected().bytes;
  }

  /**
   * Returns the number of the journal that keeps the events of the selected topic; 0 for none. Its
   * cost is part of {@link #takeLookupWork}.
   */
  public int selectedJournal() {
    RouteCache.Entry entry = selected();
    JournalRoutes.Table table = journals.table();
    if (entry.journals != table) {
      // Only for a topic that is new to the loop, or after a change of the journals: the table
      // looks at the account's filters one by one.
      entry.journal = table.journal(entry.index.account(), entry.topic());
      entry.journals = table;
      journalWork += table.work(entry.index.account());
    }
    return entry.journal;
  }

  /** Counts events of the selected topic that go into a journal. */
  public void stored(int events) {
    selected().events += events;
    stats.eventsIn.add(events);
  }

  private RouteCache.Entry selected() {
    RouteCache.Entry entry = selected;
    if (entry == null) {
      throw new IllegalStateException("deliver without select");
    }
    return entry;
  }

  /**
   * Returns whether the publisher of the selected topic has to wait, because a queue under BLOCK,
   * the queue to another loop or the bus is full; then nothing was delivered.
   *
   * @param retry if it has to wait, called once when it is worth trying again, by any thread
   */
  public boolean mustWait(long producer, Runnable retry) {
    RouteCache.Entry entry = selected();
    if (isStarting(entry, retry)) {
      return true;
    }
    if (memory.isOver()) {
      memory.whenBelow(retry);
      return true;
    }
    return isAnyFull(entry, entry.remote, producer, retry);
  }

  /**
   * Returns whether the bus would have to wait before it publishes to the selected topic itself: as
   * for a client, but that the bus need not be below its memory's limit, because its own events are
   * few and most wanted then.
   */
  public boolean ownMustWait(long producer, Runnable retry) {
    RouteCache.Entry entry = selected();
    return isStarting(entry, retry) || isAnyFull(entry, entry.remote, producer, retry);
  }

  private boolean isStarting(RouteCache.Entry entry, Runnable retry) {
    if (!starting) {
      return false;
    }
    if (remote.mustWait(retry)) {
      return true;
    }
    starting = false;
    // The peers' subscriptions may have come in the meantime.
    if (!routes.isCurrent(entry)) {
      routes.refresh(entry);
    }
    return false;
  }

  private boolean isAnyFull(
      RouteCache.Entry entry, @Nullable RemotePlan plan, long producer, Runnable retry) {
    Route route = entry.route();
    if (anyFull(route.blocking(), retry)) {
      return true;
    }
    for (int g = 0; g < route.groups().blocking(); g++) {
      if (isFull(route.groups(), g, retry)) {
        return true;
      }
    }
    return (plan != null && plan.mustWait(producer, retry)) || isHandOverFull(retry);
  }

  /**
   * Notes who holds a publisher back that {@link #mustWait} has made wait for the selected topic.
   */
  public void stalled(PublisherStall stall) {
    stall.begin(selected(), true);
  }

  /** Notes who holds a journal back that {@link #storedMustWait} has made wait. */
  public void storedStalled(PublisherStall stall, boolean groups) {
    stall.begin(selected(), groups);
  }

  /** Notes that a publisher has published to the selected topic. */
  public void published(PublisherStall stall) {
    stall.published(selected());
  }

  /**
   * Charges the subscribers that stall a publisher, if any do; to be called several times a second.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public void chargeStall(PublisherStall stall, long nowNanos) {
    stall.onTick(nowNanos, routes);
  }

  /**
   * Charges the subscribers of a topic that stall a peer's frame, if others of them have nothing to
   * read.
   */
  public void chargeStall(String account, String topic, long nanos) {
    byte[] bytes = topic.getBytes(StandardCharsets.UTF_8);
    RouteCache.Entry entry =
        routes.current(routes.unnamed().accounts().findOrNobody(account), bytes);
    if (entry != null && PublisherStall.starves(entry.route(), true)) {
      PublisherStall.charge(entry.route(), true, nanos);
    }
  }

  /**
   * Returns the cost of {@link #select} beyond remembered topics since the last call: nodes of the
   * tree of filters, subscribers, and filters of journals that were visited; mostly 0.
   */
  public int takeLookupWork() {
    int work = routes.takeWork() + journalWork;
    journalWork = 0;
    return work;
  }

  /**
   * Returns whether a peer's frame for the selected topic has to wait; then nothing was delivered.
   */
  public boolean mustWait(boolean ungrouped, List<String> groups, Runnable retry) {
    if (memory.isOver()) {
      memory.whenBelow(retry);
      return true;
    }
    RouteCache.Entry entry = selected();
    Route route = entry.route();
    if (ungrouped && anyFull(route.blocking(), retry)) {
      return true;
    }
    for (int i = 0; i < groups.size(); i++) {
      int group = routes.group(entry, groups.get(i));
      if (group >= 0 && isFull(route.groups(), group, retry)) {
        return true;
      }
    }
    return isHandOverFull(retry);
  }

  private static boolean anyFull(Subscriber[] blocking, Runnable retry) {
    for (Subscriber subscriber : blocking) {
      if (subscriber.isFull()) {
        subscriber.whenNotFull(retry);
        return true;
      }
    }
    return false;
  }

  private static boolean isFull(RouteGroups groups, int group, Runnable retry) {
    if (!groups.isFull(group)) {
      return false;
    }
    // The first member with room gets the next event.
    for (int i = 0; i < groups.size(group); i++) {
      groups.member(group, i).subscriber().whenNotFull(retry);
    }
    return true;
  }

  private boolean isHandOverFull(Runnable retry) {
    for (DeliveryHandOver handOver : handOvers) {
      if (handOver.isFull()) {
        handOver.whenNotFull(retry);
        return true;
      }
    }
    return false;
  }

  /**
   * Returns how many subscribers of this bus, plus how many other buses, the events of the last
   * {@code Publish} were queued for.
   */
  public int receivers() {
    return receivers;
  }

  /**
   * Delivers a frame to the subscribers of the selected topic.
   *
   * @param receivedAt microseconds since the epoch
   * @param nowNanos {@link System#nanoTime} at the receipt
   */
  public int deliver(
      ByteBuffer in, PublishView publish, long producer, long receivedAt, long nowNanos) {
    RouteCache.Entry entry = selected();
    Route route = entry.route();
    int events = publish.eventCount();
    RemotePlan plan = entry.remote;
    int far = 0;
    int buses = 0;
    int grouped = 0;
    if (route.targetCount() > 0 || route.groups().size() > 0 || plan != null) {
      choice.choose(route, entry.roundRobin++);
      grouped = choice.ofGroupsOnly();
      boolean ungrouped = route.targetCount() > 0 || plan != null;
      Delivery shared =
          ungrouped || (choice.size() > 0 && DeliveryAllocator.isShared(publish.eventsSize()))
              ? build(in, publish, producer, receivedAt, nowNanos, NO_GROUPS, 0)
              : null;
      try {
        for (int i = 0; i < choice.size(); i++) {
          enqueueOne(i, forGroups(shared, i, in, publish, producer, receivedAt, nowNanos));
        }
        if (shared != null) {
          for (int to = 0; to < route.byLoop().length; to++) {
            enqueue(shared, to, choice.without(route.byLoop()[to]));
          }
          if (plan != null) {
            RouteTarget[] paths = plan.targets(producer, entry.roundRobin);
            far = paths.length;
            buses = plan.reached();
            enqueue(shared, plan.loop(producer), paths);
          }
        }
      } finally {
        // Also where memory is refused.
        release(shared);
        choice.clear();
      }
    }
    // Last: where memory is refused nothing was published.
    entry.events += events;
    entry.deliveries += (long) events * (route.targetCount() + route.groups().size());
    stats.eventsIn.add(events);
    receivers = route.targetCount() + grouped + buses;
    return route.work(events) + far;
  }

  /**
   * Delivers a peer's frame to the subscribers of the selected topic.
   *
   * @param from the index of the first byte of the frame
   * @param to the index after its last byte
   * @param nowNanos {@link System#nanoTime} at the receipt
   */
  public int deliver(
      ByteBuffer in,
      int from,
      int to,
      DeliverView deliver,
      boolean ungrouped,
      List<String> groups,
      long nowNanos,
      int relayLoop,
      RouteTarget[] relays) {
    RouteCache.Entry entry = selected();
    int missing = choose(entry, groups);
    int here = ungrouped ? entry.route().targetCount() : 0;
    entry.events += deliver.eventCount();
    deliver(entry, in, from, to, deliver, here, nowNanos, relayLoop, relays);
    return missing;
  }

  /**
   * Returns whether a frame of a journal for the selected topic has to wait; then nothing was
   * delivered.
   *
   * @param groups whether this bus chooses the members of groups for it
   * @param producer that of the frame
   * @param retry if it has to wait, called once when it is worth trying again, by any thread
   */
  public boolean storedMustWait(boolean groups, long producer, Runnable retry) {
    RouteCache.Entry entry = selected();
    if (groups && isStarting(entry, retry)) {
      return true;
    }
    if (memory.isOver()) {
      memory.whenBelow(retry);
      return true;
    }
    return groups
        ? isAnyFull(entry, routes.groupsOnly(entry), producer, retry)
        : anyFull(entry.route().blocking(), retry) || isHandOverFull(retry);
  }

  /**
   * Delivers a frame of a journal to the subscribers of the selected topic at this bus. Those at
   * other buses get it of their own bus, but for members of groups, whom one bus chooses: as for
   * its clients' events, at this bus if there are any, else at others.
   *
   * @param from the index of the first byte of the frame
   * @param to the index after its last byte
   * @param groups whether this bus chooses the members of groups for the frame
   * @param nowNanos {@link System#nanoTime}
   */
  public void deliverStored(
      ByteBuffer in, int from, int to, DeliverView deliver, boolean groups, long nowNanos) {
    RouteCache.Entry entry = selected();
    int here = entry.route().targetCount();
    choice.clear();
    if (!groups) {
      deliver(entry, in, from, to, deliver, here, nowNanos, loop, NO_RELAYS);
      return;
    }
    int turn = entry.roundRobin++;
    choice.choose(entry.route(), turn);
    RemotePlan plan = routes.groupsOnly(entry);
    if (plan == null) {
      deliver(entry, in, from, to, deliver, here, nowNanos, loop, NO_RELAYS);
    } else {
      long producer = deliver.producer();
      RouteTarget[] far = plan.targets(producer, turn);
      deliver(entry, in, from, to, deliver, here, nowNanos, plan.loop(producer), far);
    }
  }

  /** Delivers a frame to here and to the chosen members of groups. */
  private void deliver(
      RouteCache.Entry entry,
      ByteBuffer in,
      int from,
      int to,
      DeliverView deliver,
      int here,
      long nowNanos,
      int relayLoop,
      RouteTarget[] relays) {
    Route route = entry.route();
    int chosen = choice.size();
    boolean sharing =
        chosen > 0 && DeliveryAllocator.isShared(deliver.eventsEnd() - deliver.eventsStart());
    Delivery shared = null;
    try {
      if (here > 0 || relays.length > 0 || sharing) {
        shared =
            deliveries.allocate(DeliveryKind.EVENTS, to - from, deliver.eventCount(), nowNanos);
        shared.append(in, from, to - from);
        shared.finish();
      }
      for (int i = 0; i < choice.size(); i++) {
        enqueueOne(i, forGroups(sharing ? shared : null, i, in, from, deliver, nowNanos));
      }
      if (shared != null) {
        for (int i = 0; here > 0 && i < route.byLoop().length; i++) {
          enqueue(shared, i, plain(route.byLoop()[i], deliver));
        }
        enqueue(shared, relayLoop, relays);
      }
    } finally {
      release(shared);
      choice.clear();
    }
    entry.deliveries += (long) deliver.eventCount() * (here + chosen);
  }

  /**
   * Returns the targets that get a frame for their subscriptions without a group. Of a durable
   * topic that is a frame of its own, as the one for groups may come from another bus.
   */
  private RouteTarget[] plain(RouteTarget[] targets, DeliverView deliver) {
    return deliver.offset() > 0 ? targets : choice.without(targets);
  }

  /** Chooses members for a peer's frame; returns how many groups have no member here. */
  private int choose(RouteCache.Entry entry, List<String> groups) {
    choice.clear();
    int roundRobin = entry.roundRobin++;
    int missing = 0;
    for (int i = 0; i < groups.size(); i++) {
      int group = routes.group(entry, groups.get(i));
      if (group < 0) {
        missing++;
      } else {
        choice.choose(entry.route(), group, roundRobin);
      }
    }
    return missing;
  }

  /** Enqueues a delivery for the chosen member of a group; takes over the caller's reference. */
  private void enqueueOne(int i, Delivery own) {
    try {
      Subscriber member = choice.member(i);
      enqueue(own, member.loop(), DeliveryHandOver.single(member, choice.overflow(i)));
    } finally {
      own.release();
    }
  }

  private static void release(@Nullable Delivery shared) {
    if (shared != null) {
      shared.release();
    }
  }

  /** Returns the delivery of a published frame for the i-th chosen member of groups. */
  private Delivery forGroups(
      @Nullable Delivery shared,
      int i,
      ByteBuffer in,
      PublishView publish,
      long producer,
      long receivedAt,
      long nowNanos) {
    long[] ids = choice.ids(i);
    int count = choice.idCount(i);
    if (shared == null || !DeliveryAllocator.isShared(publish.eventsSize())) {
      return build(in, publish, producer, receivedAt, nowNanos, ids, count);
    }
    Frames.writeDeliverHead(scratch.clear(), in, publish, producer, receivedAt, -1, ids, count);
    // In the frame without groups one byte follows the events.
    int from = shared.frameBytes() - 1 - publish.eventsSize();
    return deliveries.around(shared, from, publish.eventsSize(), scratch.flip(), tail(ids, count));
  }

  /** Returns the delivery of a peer's frame for the i-th chosen member of groups. */
  private Delivery forGroups(
      @Nullable Delivery shared,
      int i,
      ByteBuffer in,
      int frameStart,
      DeliverView deliver,
      long nowNanos) {
    long[] ids = choice.ids(i);
    int count = choice.idCount(i);
    if (shared == null) {
      Delivery own =
          deliveries.allocate(
              DeliveryKind.EVENTS,
              Frames.deliverSize(deliver, ids, count),
              deliver.eventCount(),
              nowNanos);
      Frames.writeDeliver(own.writable(), in, deliver, ids, count);
      own.finish();
      return own;
    }
    Frames.writeDeliverHead(scratch.clear(), in, deliver, ids, count);
    return deliveries.around(
        shared,
        deliver.eventsStart() - frameStart,
        deliver.eventsEnd() - deliver.eventsStart(),
        scratch.flip(),
        tail(deliver, ids, count));
  }

  private static ByteBuffer tail(DeliverView deliver, long[] ids, int count) {
    ByteBuffer tail = ByteBuffer.allocate(Frames.deliverTailSize(deliver, ids, count));
    Frames.writeDeliverTail(tail, deliver, ids, count);
    return tail.flip();
  }

  private static ByteBuffer tail(long[] ids, int count) {
    ByteBuffer tail = ByteBuffer.allocate(Frames.deliverTailSize(ids, count));
    Frames.writeDeliverTail(tail, ids, count);
    return tail.flip();
  }

  private Delivery build(
      ByteBuffer in,
      PublishView publish,
      long producer,
      long receivedAt,
      long nowNanos,
      long[] groups,
      int groupCount) {
    int size = Frames.deliverSize(publish, producer, receivedAt, -1, groups, groupCount);
    Delivery delivery =
        deliveries.allocate(DeliveryKind.EVENTS, size, publish.eventCount(), nowNanos);
    int events = publish.eventsInPlace();
    if (events < 0 || groupCount > MAX_TAIL_GROUPS) {
      Frames.writeDeliver(
          delivery.writable(), in, publish, producer, receivedAt, -1, groups, groupCount);
      delivery.finish();
      return delivery;
    }
    // Head and tail go through the scratch buffer: a view of a new buffer would be an object for
    // each frame.
    Frames.writeDeliverHead(
        scratch.clear(), in, publish, producer, receivedAt, -1, groups, groupCount);
    delivery.append(scratch.flip());
    delivery.append(in, events, publish.eventsSize());
    Frames.writeDeliverTail(scratch.clear(), groups, groupCount);
    delivery.append(scratch.flip());
    delivery.finish();
    return delivery;
  }

  private void enqueue(Delivery delivery, int to, RouteTarget[] targets) {
    if (targets.length == 0) {
      return;
    }
    DeliveryHandOver handOver = handOvers[to];
    if (to == loop && handOver.isIdle() && !DeliveryHandOver.isLarge(delivery, targets)) {
      for (RouteTarget target : targets) {
        target.subscriber().offer(delivery, target.overflow());
      }
    } else if (handOver.add(delivery, targets)) {
      flushDue.run();
    }
  }

  /** Hands over what was collected for other loops; called at the end of a read cycle. */
  public void flush() {
    for (DeliveryHandOver handOver : handOvers) {
      handOver.flush();
    }
  }

  /**
   * Returns topics that were published to on this loop, with their counts, as far as the loop
   * remembers. Any thread.
   */
  public List<TopicCount> topics() {
    List<TopicCount> counts = new ArrayList<>();
    for (RouteCache.Entry entry : routes.list()) {
      if (!entry.index.isPresent()) {
        continue;
      }
      counts.add(
          new TopicCount(entry.index.account(), entry.topic(), entry.events, entry.deliveries));
    }
    return counts;
  }

  /** Returns what makes this loop's deliveries. */
  public DeliveryAllocator deliveries() {
    return deliveries;
  }

  /**
   * Releases unused memory: of deliveries, and routes that no longer hold or were not used for a
   * second or two. To be called at least once a second.
   *
   * @param nowNanos {@link System#nanoTime}
   */
  public void trim(long nowNanos) {
    deliveries.trim();
    routes.trim(nowNanos);
  }

  /** Releases what the router holds; on its loop, or when that has ended. */
  public void close() {
    routes.clear();
    deliveries.close();
  }

  /** Returns this router's loop. */
  public int loop() {
    return loop;
  }
}
