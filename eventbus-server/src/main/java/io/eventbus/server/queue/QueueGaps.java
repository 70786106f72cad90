package io.eventbus.server.queue;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Gap;
import io.eventbus.schema.GapReason;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Events that a queue has dropped under DROP_OLDEST and not told yet. The oldest were dropped from
 * the front, so their gaps go before everything that is queued; a new one that found no room leaves
 * a gap behind everything. Confined to the loop.
 */
final class QueueGaps {
  private final QueueContext context;
  private final GapLedger front = new GapLedger();
  private final GapLedger behind = new GapLedger();

  QueueGaps(QueueContext context) {
    this.context = context;
  }

  private static DeliverView read(Delivery delivery) {
    ByteBuffer in = delivery.holder().frame();
    FrameCursor frame = new FrameCursor().wrap(in, 0, in.limit());
    frame.next();
    DeliverView view = new DeliverView();
    view.readOneBlock(in, frame.bodyStart(), frame.bodyEnd());
    return view;
  }

  static String topic(Delivery delivery) {
    return read(delivery).topic();
  }

  void record(Delivery victim, boolean oldest) {
    DeliverView view = read(victim);
    (oldest ? front : behind)
        .add(
            view.topic(),
            view.producer(),
            view.sequence(),
            view.sequence() + view.eventCount() - 1,
            GapReason.QUEUE_FULL);
  }

  void tellFront(DeliveryRing ring) {
    if (front.isEmpty()) {
      return;
    }
    List<Gap> told = front.takeAll();
    for (int i = told.size() - 1; i >= 0; i--) {
      ring.addFirst(frame(context, told.get(i)));
    }
  }

  void tellBehind(DeliveryRing ring) {
    if (!behind.isEmpty()) {
      tell(context, ring, behind.takeAll());
    }
  }

  static void tell(QueueContext context, DeliveryRing ring, List<Gap> told) {
    for (Gap gap : told) {
      ring.add(frame(context, gap));
    }
  }

  private static Delivery frame(QueueContext context, Gap gap) {
    context.stats().gaps.add(1);
    return Delivery.of(
        context.allocator(),
        context.memory(),
        DeliveryKind.DIRECT,
        ControlFrames.encode(TypeCode.GAP, gap),
        System.nanoTime());
  }

  int size() {
    return front.size() + behind.size();
  }
}
