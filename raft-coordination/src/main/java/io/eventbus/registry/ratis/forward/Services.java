package io.eventbus.registry.ratis.forward;

/** The numbers of the registry's services, and the channel for them. */
public final class Services {
  static final int COMMAND = 10;
  static final int READ = 11;

  /** Where a bus stands on its way into a cluster. */
  public static final int PROBE = 20;

  /** To be a member. */
  public static final int JOIN = 21;

  /** What operators ask of the leader. */
  public static final int ADMINISTRATION = 30;

  /** Everything that is not Raft's. */
  public static final String COMMANDS = "registry";

  private Services() {}
}
