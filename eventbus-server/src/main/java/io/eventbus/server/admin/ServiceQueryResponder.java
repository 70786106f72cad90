package io.eventbus.server.admin;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.BusService;
import io.eventbus.server.view.BusView;
import io.eventbus.server.view.Json;
import io.eventbus.server.view.ServiceDetail;
import io.eventbus.server.view.ServiceInfo;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Responder to clients' queries about services, in the JSON of the administration. On a thread of
 * its own, because a bus with many members takes longer to describe than an event loop has; waiting
 * queries are bounded.
 */
public final class ServiceQueryResponder implements BusService, AutoCloseable {
  /** Maximum of services in one answer. */
  static final int MAX_SERVICES = 1_000;

  private static final int MAX_WAITING = 256;
  private static final long IDLE_SECONDS = 10;
  private static final RateLimitedLog LOG =
      new RateLimitedLog(LoggerFactory.getLogger(ServiceQueryResponder.class));

  private final BusView view;
  private final String bus;
  private final ThreadPoolExecutor thread;

  /** Creates a responder. */
  public ServiceQueryResponder(String bus, BusView view) {
    this.bus = bus;
    this.view = view;
    this.thread =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_WAITING),
            task -> {
              Thread made = new Thread(task, "eventbus-questions");
              made.setDaemon(true);
              return made;
            });
    thread.allowCoreThreadTimeOut(true);
  }

  /**
   * Services of a bus.
   *
   * @param next the argument that brings the following ones; null for none
   */
  record Services(String bus, List<ServiceInfo> services, @Nullable String next) {}

  /** Service of a bus. */
  record OneService(String bus, ServiceInfo service, List<ServiceDetail.Member> members) {}

  @Override
  public void ask(String account, String method, String argument, Answer answer) {
    try {
      thread.execute(() -> answer(account, method, argument, answer));
    } catch (RejectedExecutionException e) {
      answer.fail(
          FailureCode.OVERLOADED,
          "too many questions wait (expected: at most " + MAX_WAITING + " of all clients)");
    }
  }

  private void answer(String account, String method, String argument, Answer answer) {
    try {
      switch (method) {
        case ALL -> answer.reply(Json.write(services(account, argument)));
        case ONE -> service(account, argument, answer);
        default ->
            answer.fail(
                FailureCode.UNKNOWN_METHOD, "no such method (expected: services or service)");
      }
    } catch (IOException | RuntimeException e) {
      LOG.error("questions", e, "a question about services could not be answered");
      answer.fail(FailureCode.INTERNAL, "see the log of the bus");
    }
  }

  private Services services(String account, String after) {
    List<ServiceInfo> found = view.services(account, after, MAX_SERVICES + 1);
    boolean more = found.size() > MAX_SERVICES;
    List<ServiceInfo> some = more ? found.subList(0, MAX_SERVICES) : found;
    return new Services(bus, List.copyOf(some), more ? some.get(MAX_SERVICES - 1).name() : null);
  }

  private void service(String account, String name, Answer answer) throws IOException {
    Optional<ServiceDetail> found = view.service(account, name);
    if (found.isEmpty()) {
      answer.fail(FailureCode.FAILED, "no member serves it at this bus");
      return;
    }
    ServiceDetail detail = found.get();
    answer.reply(Json.write(new OneService(bus, detail.service(), detail.members())));
  }

  /** Answers nothing more; what waits is not answered. */
  @Override
  public void close() {
    thread.shutdownNow();
  }
}
