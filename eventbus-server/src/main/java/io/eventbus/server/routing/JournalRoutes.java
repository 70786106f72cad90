package io.eventbus.server.routing;

/** Topics that are durable, which loops look up once for each topic and table. Any thread. */
public final class JournalRoutes {
  /** Immutable table of journals. */
  public interface Table {
    /** Table without journals. */
    Table EMPTY =
        new Table() {
          @Override
          public int journal(String account, String topic) {
            return 0;
          }

          @Override
          public int work(String account) {
            return 0;
          }
        };

    /** Returns the number of the journal that keeps the events of a topic; 0 for none. */
    int journal(String account, String topic);

    /** Returns what a look-up costs in an account: the number of filters. */
    int work(String account);
  }

  private volatile Table table = Table.EMPTY;

  /** Creates routes without journals. */
  public JournalRoutes() {}

  /** Sets the table for events that are published from now on. */
  public void set(Table now) {
    table = now;
  }

  Table table() {
    return table;
  }
}
