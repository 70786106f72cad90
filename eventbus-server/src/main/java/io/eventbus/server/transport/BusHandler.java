package io.eventbus.server.transport;

import io.eventbus.protocol.CloseReason;
import io.eventbus.server.admission.ClientAddress;
import io.eventbus.server.admission.ConnectionUsage;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.config.BrowserBlock;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.config.ValueType;
import io.eventbus.server.queue.OutboundQueue;
import io.eventbus.server.session.ConnectionControl;
import io.eventbus.server.session.Session;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.security.cert.X509Certificate;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Joins a connection, its {@link Session} and its {@link OutboundQueue}. Confined to the
 * connection's loop.
 */
final class BusHandler implements MessageHandler, ConnectionControl {
  /**
   * Delay before a client is told that its authentication failed, where its address fails often.
   */
  private static final long REFUSAL_SECONDS = 1;

  private final ConnectionLoop loop;
  private final WebSocketConnection connection;
  private final OutboundQueue queue;
  private final Session session;
  private final ServerConfig config;
  private final long acceptedAt;
  private final ConnectionUsage account;
  private final boolean forwarded;
  private final boolean page;
  private @Nullable Ending ending;
  private @Nullable Runnable whenRead;
  private @Nullable Future<?> lateRefusal;
  private boolean lacksMemory;
  private boolean markerSent;
  private byte marker;

  /**
   * Pending end of the connection: when the queue is empty, or after {@code timeoutNanos} in any
   * case.
   */
  private record Ending(CloseReason reason, String message, long begunNanos, long timeoutNanos) {}

  /**
   * Creates the handler of a connection that was upgraded.
   *
   * @param acceptedAt when, as {@link System#nanoTime}
   */
  BusHandler(
      ConnectionLoop loop,
      WebSocketConnection connection,
      long acceptedAt,
      boolean forwarded,
      boolean page) {
    this.loop = loop;
    this.connection = connection;
    this.config = loop.config();
    this.acceptedAt = acceptedAt;
    this.forwarded = forwarded;
    this.page = page;
    this.account = ConnectionAdmission.account(connection.channel());
    this.queue =
        new OutboundQueue(
            loop.queues(),
            connection,
            this::blockBudgetOwner,
            this::closeSlow,
            this::stalledTooLong);
    this.session = new Session(loop.context(), queue, this, account);
  }

  /** Returns what goes out to the client. */
  OutboundQueue queue() {
    return queue;
  }

  /** Returns the owner of the block budget: an identity or an address, kept apart by a prefix. */
  private String blockBudgetOwner() {
    String identity = session.identityKey();
    InetAddress ip = account.client().getAddress();
    return identity != null
        ? "identity " + identity
        : "address " + (ip == null ? "" : ClientAddress.of(ip));
  }

  @Override
  public boolean acceptsText() {
    return false;
  }

  @Override
  public int maxMessageBytes() {
    return session.isWelcomed() ? config.limits().messageBytes() : config.limits().helloBytes();
  }

  @Override
  public int onMessage(
      ByteBuffer message, int from, int to, boolean text, long nowNanos, Runnable retry) {
    boolean awaited = !session.isWelcomed();
    int at = session.onMessage(message, from, to, nowNanos, retry);
    inputWaits();
    if (awaited && session.isWelcomed()) {
      account.welcomed();
    }
    return at;
  }

  @Override
  public void inputLacksMemory(boolean lacks) {
    lacksMemory = lacks;
    inputWaits();
  }

  /** Tells the queue whether input waits, in which the client may grant more credit. */
  private void inputWaits() {
    queue.inputWaits(lacksMemory || session.awaitsRoom());
  }

  @Override
  public void onWritable() {
    queue.drain();
    whenWritten();
  }

  @Override
  public boolean onTick(long nowNanos) {
    if (!session.isWelcomed() && nowNanos - acceptedAt > config.timeouts().hello().toNanos()) {
      connection.close(
          CloseReason.IDLE,
          (session.isAuthenticating() ? "no answer to Hello" : "no Hello")
              + " within "
              + ValueType.time(config.timeouts().hello())
              + " of connecting; reconnect");
      return false;
    }
    queue.onTick(nowNanos);
    boolean quiet = session.onTick(nowNanos);
    Ending end = ending;
    if (end != null && nowNanos - end.begunNanos() > end.timeoutNanos()) {
      close(end.reason(), end.message());
    }
    whenWritten();
    // A queue that is not starving yet counts the ticks until it is.
    return quiet
        && session.isWelcomed()
        && ending == null
        && whenRead == null
        && queue.isEmpty()
        && queue.isStarving();
  }

  @Override
  public void onShutdown() {
    session.onShutdown();
    if (ending == null) {
      // The bus itself knows how long it waits.
      String message = "the bus shuts down; reconnect elsewhere";
      end(new Ending(CloseReason.SHUTTING_DOWN, message, System.nanoTime(), Long.MAX_VALUE));
    }
  }

  @Override
  public void closeWhenWritten(CloseReason reason, String message) {
    long timeout = config.timeouts().slowSubscriber().toNanos();
    end(new Ending(reason, message, System.nanoTime(), timeout));
  }

  private void end(Ending how) {
    ending = how;
    queue.endCredit();
    queue.drain();
    whenWritten();
  }

  @Override
  public void whenRead(Runnable task) {
    whenRead = task;
    markerSent = false;
    marker++;
    queue.drain();
    whenWritten();
  }

  /** Sends the marker, or closes, when everything that comes before is written. */
  private void whenWritten() {
    if (whenRead != null && !markerSent && queue.hasAnswered()) {
      markerSent = true;
      connection.sendMarkerPing(marker);
    }
    Ending end = ending;
    if (end != null && queue.isEmpty()) {
      connection.close(end.reason(), end.message());
    }
  }

  @Override
  public void onMarkerPong(byte number) {
    Runnable task = whenRead;
    if (task != null && markerSent && number == marker) {
      whenRead = null;
      task.run();
    }
  }

  private void stalledTooLong(String message) {
    session.onStalledTooLong(message);
  }

  private void closeSlow(String why) {
    connection.close(CloseReason.SLOW_CONSUMER, why);
  }

  @Override
  public void onGoodbye() {
    session.onGoodbye();
  }

  @Override
  public void onClosed() {
    if (lateRefusal != null) {
      lateRefusal.cancel(false);
    }
    session.onClosed();
    queue.close();
  }

  @Override
  public void nextTurn(Runnable retry) {
    connection.nextTurn();
  }

  @Override
  public void inTurn(Runnable task) {
    connection.inTurn(() -> connection.guarded(task::run));
  }

  @Override
  public void chargeWork(long nanos) {
    connection.caused(nanos);
  }

  @Override
  public void later(Runnable retry, long nanos) {
    connection.later(retry, nanos);
  }

  @Override
  public void close(CloseReason reason, String message) {
    // Earlier frames, a Problem for instance, go out first as far as the socket takes them.
    queue.drain();
    connection.close(reason, message);
  }

  @Override
  public void execute(Runnable task) {
    if (loop.eventLoop().inEventLoop()) {
      task.run();
      return;
    }
    try {
      loop.eventLoop().execute(task);
    } catch (RejectedExecutionException e) {
      // The bus has ended, and this connection with it.
      return;
    }
  }

  @Override
  public long queuedBytes() {
    return queue.bytes();
  }

  @Override
  public long keptBytes() {
    return session.keptBytes();
  }

  @Override
  public boolean isLocal() {
    InetAddress address = account.client().getAddress();
    // An unknown proxy on this machine forwards remote clients from a loopback address.
    return !forwarded && account.isExempt() && address != null && address.isLoopbackAddress();
  }

  @Override
  public boolean mayBlock() {
    return !page || config.listen().browserBlock() == BrowserBlock.ALLOW;
  }

  @Override
  public @Nullable X509Certificate certificate() {
    return TlsContexts.clientCertificate(connection.channel());
  }

  @Override
  public String remoteAddress() {
    return account.toString();
  }

  @Override
  public boolean refusalMustWait(Advisory.ClientRefused refusal, String text, Runnable retry) {
    loop.context().bus().stats().authenticationFailures.increment();
    loop.context().bus().advisories().tell(refusal);
    if (!account.authenticationFailed(text)) {
      return false;
    }
    try {
      lateRefusal = loop.eventLoop().schedule(retry, REFUSAL_SECONDS, TimeUnit.SECONDS);
      return true;
    } catch (RejectedExecutionException e) {
      // The bus has ended.
      return false;
    }
  }
}
