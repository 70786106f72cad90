package io.eventbus.loadtest.driver.tyruspaper;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.IdleHandshake;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.workload.Workload;
import jakarta.websocket.ClientEndpointConfig;
import jakarta.websocket.DeploymentException;
import jakarta.websocket.Endpoint;
import jakarta.websocket.EndpointConfig;
import jakarta.websocket.MessageHandler;
import jakarta.websocket.Session;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.glassfish.tyrus.client.ClientManager;
import org.glassfish.tyrus.client.ClientProperties;

/** The paper's bus running, and a session of Tyrus for each publisher and subscriber. */
final class PaperSession implements Driver.Session {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final Duration CLOSE_TOGETHER = Duration.ofSeconds(5);

  private final ServerProcess process;
  private final URI address;
  private final Workload workload;
  private final ClientManager client;
  private final Queue<Session> sessions = new ConcurrentLinkedQueue<>();

  PaperSession(ServerProcess process, String address, Workload workload) {
    this.process = process;
    this.address = URI.create(address);
    this.workload = workload;
    this.client =
        ClientManager.createClient(
            "org.glassfish.tyrus.container.grizzly.client.GrizzlyClientContainer");
    // All connections share a set of threads.
    client.getProperties().put(ClientProperties.SHARED_CONTAINER, true);
  }

  @Override
  public List<Long> serverPids() {
    return List.of(process.pid());
  }

  @Override
  public Driver.Publisher publisher(int number) {
    return new PaperPublisher(connect(message -> {}));
  }

  @Override
  public Driver.Subscriber subscriber(int number, String filter, Driver.Receiver receiver) {
    // The paper's bus knows no filters, but a subscriber may register for many topics.
    int[] topics = workload.topicsOf(number).stream().toArray();
    CountDownLatch registered = new CountDownLatch(topics.length);
    Session session =
        connect(
            message -> {
              if (message.typeCode() == PaperMessage.SUBSCRIBE) {
                registered.countDown();
              } else {
                receiver.onEvent(message.message(), message.received());
              }
            });
    PaperCodec codec = new PaperCodec();
    try {
      for (int topic : topics) {
        PaperMessage subscribe = PaperMessage.subscribe(Workload.topic(topic));
        session.getBasicRemote().sendBinary(codec.encode(subscribe));
      }
      if (!registered.await(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new DriverException("no answer to a subscription to " + filter);
      }
    } catch (IOException e) {
      throw new DriverException("no subscription to " + filter, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while subscribing to " + filter, e);
    }
    return new PaperSubscriber(session);
  }

  @Override
  public IdleHandshake idleHandshake() {
    // The paper's bus answers nothing but a subscription.
    ByteBuffer greeting = new PaperCodec().encode(PaperMessage.subscribe("idle"));
    return new IdleHandshake(
        address.getPort(),
        address.getPath(),
        "",
        greeting,
        IdleHandshake.firstByte(PaperMessage.SUBSCRIBE << 1));
  }

  /** Takes what the bus sends to one connection. */
  private interface Inbox {
    void take(PaperMessage message);
  }

  private Session connect(Inbox inbox) {
    PaperCodec codec = new PaperCodec();
    Endpoint endpoint =
        new Endpoint() {
          @Override
          public void onOpen(Session session, EndpointConfig config) {
            session.addMessageHandler(
                ByteBuffer.class,
                (MessageHandler.Whole<ByteBuffer>) b -> inbox.take(codec.decode(b)));
          }
        };
    try {
      Session session =
          client.connectToServer(endpoint, ClientEndpointConfig.Builder.create().build(), address);
      sessions.add(session);
      return session;
    } catch (DeploymentException | IOException e) {
      throw new DriverException("cannot connect to " + address, e);
    }
  }

  private static void close(Session session) {
    try {
      session.close();
    } catch (IOException e) {
      // The connection is gone already.
      return;
    }
  }

  @Override
  public void close() {
    try {
      long end = System.nanoTime() + CLOSE_TOGETHER.toNanos();
      for (Session session : sessions) {
        if (System.nanoTime() < end) {
          close(session);
        }
      }
      client.shutdown();
    } finally {
      process.close();
    }
  }

  private static final class PaperPublisher implements Driver.Publisher {
    private final Session session;
    private final PaperCodec codec = new PaperCodec();

    PaperPublisher(Session session) {
      this.session = session;
    }

    @Override
    public void publish(int topic, byte[] payload) {
      try {
        PaperMessage message = PaperMessage.publish(Workload.topic(topic), payload);
        session.getBasicRemote().sendBinary(codec.encode(message));
      } catch (IOException | IllegalStateException e) {
        throw new DriverException("an event was not sent", e);
      }
    }

    @Override
    public void flush() {
      // sendBinary returns when the message has been written.
    }

    @Override
    public void close() {
      PaperSession.close(session);
    }
  }

  private record PaperSubscriber(Session session) implements Driver.Subscriber {
    @Override
    public long reportedLost() {
      return 0;
    }

    @Override
    public void close() {
      PaperSession.close(session);
    }
  }
}
