package io.eventbus.server.view;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.util.List;
import java.util.Map;

/** Service with its members. */
public record ServiceDetail(ServiceInfo service, List<Member> members) {
  /** Copies the list, so that the record is immutable. */
  public ServiceDetail {
    members = List.copyOf(members);
  }

  /**
   * Member of the service.
   *
   * @param connection the number of its connection; 0 if that has just ended
   * @param window calls that it may be given at once
   * @param outstanding calls that it has and has not answered
   */
  public record Member(
      @JsonFormat(shape = JsonFormat.Shape.STRING) long number,
      long connection,
      String client,
      String version,
      Map<String, String> metadata,
      int concurrency,
      int window,
      int outstanding,
      long latencyMicros,
      long completions) {
    /** Copies the map, so that the record is immutable. */
    public Member {
      metadata = Map.copyOf(metadata);
    }
  }
}
