package io.eventbus.server.session;

import io.eventbus.protocol.CloseReason;
import io.eventbus.server.admission.AddressLimits;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.queue.Outbound;
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.samples.FakeSubscriber;
import java.security.cert.X509Certificate;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Connection without limits whose client reads everything at once; keeps and sends nothing. */
public class IdleConnection extends FakeSubscriber
    implements Outbound, ConnectionControl, AddressLimits {
  /** Creates the connection of the first loop. */
  public IdleConnection() {
    super(0);
  }

  /** Creates the session of the connection. */
  public Session session(LoopContext context) {
    return new Session(context, this, this, this);
  }

  @Override
  public void send(byte[] frame) {}

  @Override
  public void send(Delivery frame) {
    frame.release();
  }

  @Override
  public void sendLast(byte[] frame) {
    send(frame);
  }

  @Override
  public boolean hasRoomForCall(int frameBytes) {
    return true;
  }

  @Override
  public long invokesWritten() {
    return 0;
  }

  @Override
  public void onBulkWritten(LongConsumer listener) {}

  @Override
  public long feedBytes() {
    return 0;
  }

  @Override
  public void onFeedWritten(Runnable listener) {}

  @Override
  public void grant(long limit) {}

  @Override
  public boolean mustWait(Runnable retry) {
    return false;
  }

  @Override
  public void share(@Nullable ConnectionQuota share) {}

  @Override
  public long bytes() {
    return 0;
  }

  @Override
  public long delivered() {
    return 0;
  }

  @Override
  public long dropped() {
    return 0;
  }

  @Override
  public void close(CloseReason reason, String message) {}

  @Override
  public void closeWhenWritten(CloseReason reason, String message) {
    close(reason, message);
  }

  @Override
  public void whenRead(Runnable task) {}

  @Override
  public void nextTurn(Runnable retry) {
    inTurn(retry);
  }

  @Override
  public void inTurn(Runnable task) {}

  @Override
  public void later(Runnable retry, long nanos) {}

  @Override
  public void execute(Runnable task) {
    task.run();
  }

  @Override
  public void chargeWork(long nanos) {}

  @Override
  public boolean refusalMustWait(Advisory.ClientRefused refusal, String text, Runnable retry) {
    return false;
  }

  @Override
  public boolean mayBlock() {
    return true;
  }

  @Override
  public @Nullable X509Certificate certificate() {
    return null;
  }

  @Override
  public boolean isLocal() {
    return true;
  }

  @Override
  public String remoteAddress() {
    return "test";
  }

  @Override
  public boolean isExempt() {
    return true;
  }

  @Override
  public Object shareOf() {
    return IdleConnection.class;
  }

  @Override
  public boolean failsOften() {
    return false;
  }

  @Override
  public boolean acquireSubscriptionBytes(long bytes) {
    return true;
  }

  @Override
  public void releaseSubscriptionBytes(long bytes) {}

  @Override
  public boolean acquireServiceBytes(long bytes) {
    return true;
  }

  @Override
  public void releaseServiceBytes(long bytes) {}

  @Override
  public void changeInterest(int change) {}

  @Override
  public boolean isInterestFull() {
    return false;
  }
}
