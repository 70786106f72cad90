package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import java.util.Map;

/** Many services, and requests to the administration port that list them. */
record AdminServices() implements Attack {
  @Override
  public String name() {
    return "admin-services";
  }

  @Override
  public String what() {
    return "20 connections with 450 services each, and 256 requests at a time that list them";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("members", 20L, "each", 450L, "conns", 256L);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    HostileCrowd.members(
        field, field.knob("members"), field.knob("each"), n -> "a.service.of.many.others." + n);
    new AdminRequests(
            name(),
            what(),
            "GET /api/v1/services?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n",
            field.knob("conns"))
        .run(field);
  }
}
