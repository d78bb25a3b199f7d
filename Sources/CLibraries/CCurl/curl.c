#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>

#ifdef __APPLE__
#define LIBRARY "libcurl.4.dylib"
#else
#define LIBRARY "libcurl.so.4"
#endif

// curl's header checks the types of these with macros of the same names.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define FUNCTIONS(each)                                                                                               \
    each(global_init) each(easy_init) each(easy_cleanup) each(easy_strerror) each(easy_setopt) each(easy_getinfo)      \
    each(slist_append) each(slist_free_all) each(multi_init) each(multi_cleanup) each(multi_add_handle)                \
    each(multi_remove_handle) each(multi_perform) each(multi_poll) each(multi_wakeup) each(multi_info_read)                  \
    each(multi_setopt)

static struct {
#define DECLARE(name) __typeof__(curl_##name) *name;
    FUNCTIONS(DECLARE)
} curl;

static const char *problem;

static void load(void) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        problem = dlerror();
        return;
    }
#define FIND(name)                                                                                                     \
    curl.name = (__typeof__(curl_##name) *)dlsym(library, "curl_" #name);                                              \
    if (!curl.name) {                                                                                                  \
        problem = LIBRARY " is too old: it has no curl_" #name;                                                        \
        return;                                                                                                        \
    }
    FUNCTIONS(FIND)
    if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) problem = LIBRARY " can't be initialised";
}

const char *otask_curl_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return problem;
}

CURL *otask_curl_easy_init(void) { return curl.easy_init(); }
void otask_curl_easy_cleanup(CURL *easy) { curl.easy_cleanup(easy); }
const char *otask_curl_easy_strerror(CURLcode code) { return curl.easy_strerror(code); }

// An option is a `long` or a `curl_off_t` by its number, as is an answer by the bits of its type.
CURLcode otask_curl_set_number(CURL *easy, CURLoption option, curl_off_t number) {
    return option >= CURLOPTTYPE_OFF_T && option < CURLOPTTYPE_BLOB ? curl.easy_setopt(easy, option, number)
                                                                     : curl.easy_setopt(easy, option, (long)number);
}

CURLcode otask_curl_set_boundaries(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    CURLcode code = curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    CURLcode code = curl.easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
    // A look-up of a name that hangs would hold up every other transfer; a library that doesn't know this goes on.
    (void)curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
    return code;
}

CURLcode otask_curl_set_text(CURL *easy, CURLoption option, const char *text) {
    return curl.easy_setopt(easy, option, text);
}

CURLcode otask_curl_set_pointer(CURL *easy, CURLoption option, void *pointer) {
    return curl.easy_setopt(easy, option, pointer);
}

CURLcode otask_curl_set_sink(CURL *easy, CURLoption option, curl_write_callback sink) {
    return curl.easy_setopt(easy, option, sink);
}

CURLcode otask_curl_get_number(CURL *easy, CURLINFO info, curl_off_t *number) {
    if ((info & CURLINFO_TYPEMASK) == CURLINFO_OFF_T) return curl.easy_getinfo(easy, info, number);
    long value = 0;
    CURLcode code = curl.easy_getinfo(easy, info, &value);
    *number = value;
    return code;
}

CURLcode otask_curl_get_pointer(CURL *easy, CURLINFO info, void **pointer) {
    return curl.easy_getinfo(easy, info, pointer);
}

struct curl_slist *otask_curl_slist_append(struct curl_slist *list, const char *text) {
    return curl.slist_append(list, text);
}
void otask_curl_slist_free_all(struct curl_slist *list) { curl.slist_free_all(list); }

CURLM *otask_curl_multi_init(void) { return curl.multi_init(); }
void otask_curl_multi_cleanup(CURLM *multi) { curl.multi_cleanup(multi); }
CURLMcode otask_curl_multi_set_number(CURLM *multi, CURLMoption option, long number) {
    return curl.multi_setopt(multi, option, number);
}
CURLMcode otask_curl_multi_add_handle(CURLM *multi, CURL *easy) { return curl.multi_add_handle(multi, easy); }
CURLMcode otask_curl_multi_remove_handle(CURLM *multi, CURL *easy) { return curl.multi_remove_handle(multi, easy); }
CURLMcode otask_curl_multi_perform(CURLM *multi, int *running) { return curl.multi_perform(multi, running); }
CURLMcode otask_curl_multi_poll(CURLM *multi, int milliseconds) {
    return curl.multi_poll(multi, NULL, 0, milliseconds, NULL);
}
CURLMcode otask_curl_multi_wakeup(CURLM *multi) { return curl.multi_wakeup(multi); }

CURL *otask_curl_multi_ended(CURLM *multi, CURLcode *result) {
    int left;
    for (CURLMsg *message; (message = curl.multi_info_read(multi, &left));) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}
